import { z } from "zod";
import { allPages, createHindcast, type Hindcast, isHindcastError } from "../../client/index.ts";
import { SERVICE_URL } from "../invocation.ts";
import { readLogin } from "../login_file.ts";
import { type CommandError, refusal, toCommandError, unreachable } from "../exit_codes.ts";

const refusalSchema = z.object({
  error: z.looseObject({ code: z.string(), message: z.string() }),
});

/** Says why a secret of imports is of no use. */
export const SECRET_UNKNOWN = "INGESTION_ADMIN_SECRET is not the secret that the service was started with";

/** A service, seen by the user of a command. */
export interface Caller extends Hindcast {
  readonly url: string;
  /** Undefined where nobody is signed in. */
  readonly token: string | undefined;
  /**
   * Calls a route of the REST API, for files and imports.
   *
   * @throws CommandError for every answer that is no success.
   */
  send(path: string, init?: RequestInit): Promise<Response>;
}

/**
 * The service that a command speaks to: `--url`, else HINDCAST_URL, else where the user signed in, else this machine.
 *
 * A token that was saved for another address is never sent.
 */
export function connect(given: string | undefined): Caller {
  const saved = readLogin();
  const url = (given ?? (Deno.env.get("HINDCAST_URL") || saved?.url) ?? SERVICE_URL).replace(/\/+$/, "");
  const token = Deno.env.get("HINDCAST_TOKEN") || (saved?.url === url ? saved.token : undefined);
  return callerOf(url, token);
}

/** @param url Without a slash at its end. */
export function callerOf(url: string, token: string | undefined): Caller {
  const hindcast = createHindcast({ url, ...(token === undefined ? {} : { token }) });
  const send = async (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    const answer = await fetch(`${url}${path}`, { ...init, headers }).catch((error) => {
      throw unreachable(url, error instanceof Error ? error.message : String(error));
    });
    if (answer.ok) return answer;
    throw await readRefusal(answer);
  };
  return { ...hindcast, url, token, send };
}

/** The refusal that an answer is. */
export async function readRefusal(answer: Response): Promise<CommandError> {
  const text = await answer.text();
  const parsed = refusalSchema.safeParse(parseJson(text));
  // A proxy may have answered: status and text are all that is known.
  const error = parsed.data?.error ?? { code: "HTTP", message: `${answer.status} ${text.slice(0, 200)}` };
  return refusal(answer.status, error);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Calls the service. @throws CommandError in place of the client's errors. */
export async function calling<Answer>({ url }: Caller, call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    throw toCommandError(error, url);
  }
}

/** The answer of a call; null where the service does not know what it names. @throws CommandError for any other refusal. */
export async function unlessMissing<Answer>(caller: Caller, call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    if (isHindcastError(error) && error.data?.httpStatus === 404) return null;
    throw toCommandError(error, caller.url);
  }
}

// The service's limit.
const PAGE_MAX = 200;

/** The first `count` items of a list, page by page. @param read Reads a page of the service. */
export async function collect<Item, Page extends { readonly next_cursor: string | null }>(
  caller: Caller,
  count: number,
  read: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<{ readonly items: readonly Item[]; readonly next_cursor: string | null }> {
  const items: Item[] = [];
  const limit = () => Math.min(PAGE_MAX, count - items.length);
  for await (const page of allPages((from) => calling(caller, read({ limit: limit(), ...from })))) {
    items.push(...itemsOf(page));
    if (items.length >= count) return { items, next_cursor: page.next_cursor };
  }
  return { items, next_cursor: null };
}
