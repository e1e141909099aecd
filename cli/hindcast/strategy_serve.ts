import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { Inputs, Outputs } from "../../client/index.ts";
import { EXIT, toCommandError, usageError } from "../exit_codes.ts";
import { say, warn } from "../terminal.ts";
import type { Caller } from "./caller.ts";
import { callerFor, serviceCommand } from "./command.ts";

type Request = NonNullable<Outputs["endpoints"]["next"]["request"]>;
type Answer = NonNullable<Inputs["endpoints"]["next"]["answer"]>;

// Below the service's limit of a body, which has a little more than the answer.
const ANSWER_BYTES_MAX = 900_000;
// Of an endpoint's answer, before it is cut into pages.
const READ_BYTES_MAX = 16 * 1024 * 1024;
const ERROR_LENGTH_MAX = 200;
const PAUSE_MS = 200;
const PAUSE_MS_MAX = 10_000;
const askedSchema = z.looseObject({ first_asked: z.int(), asked: z.int() });
const decisionsSchema = z.looseObject({
  decisions: z.array(z.unknown()),
  plots: z.record(z.string(), z.unknown()).nullish(),
});
/** Of requests about all markets at once, whose answers have no pages. */
const ALL_MARKETS = 2;

/** `hindcast strategy serve`. */
export const strategyServeCommand = serviceCommand(
  "serve",
  "Let an endpoint on this machine decide for runs; nothing has to reach it",
)
  .argument("<endpoint>", "its URL, such as http://127.0.0.1:9000/")
  .requiredOption("--name <name>", "runs call it serve:NAME")
  .action(async (endpoint, { name, ...options }) => {
    const url = URL.parse(endpoint);
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw usageError(`Cannot serve ${endpoint}: name an endpoint's URL, such as http://127.0.0.1:9000/`);
    }
    const caller = callerFor(options);
    say(`Serving ${name} for ${caller.url}: hindcast run serve:${name} DEMO@SAMPLE 2024-01-01 2025-01-01`);
    await serve(caller, name, url.href);
  });

/** Fetches requests, and answers them with an endpoint's answers, until the service refuses. */
async function serve(caller: Caller, name: string, endpoint: string): Promise<never> {
  let answer: Answer | undefined;
  for (let failures = 0;;) {
    try {
      // Also sent again: the first answer to a request counts.
      const sent = answer === undefined ? { name } : { name, answer };
      const { request } = await caller.api.endpoints.next.mutate(sent);
      failures = 0;
      answer = request === null ? undefined : await decide(endpoint, request);
    } catch (error) {
      const failure = toCommandError(error, caller.url);
      if (failure.code !== EXIT.unavailable) throw failure;
      if (failures++ === 0) warn(`${failure.message}. Trying again.`);
      // Many programs must not come back at once.
      await pause(Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2));
    }
  }
}

async function decide(endpoint: string, { id, timeout_ms, body }: Request): Promise<Answer> {
  try {
    const answer = await fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(body),
      redirect: "manual",
      signal: AbortSignal.timeout(timeout_ms),
    });
    const text = await readText(answer);
    if (answer.status !== 200) throw new Error(`it answered HTTP ${answer.status}: ${text}`);
    const given: unknown = JSON.parse(text);
    if (body["version"] === ALL_MARKETS) return { id, body: z.looseObject({}).parse(given) };
    return { id, body: toPage(askedSchema.parse(body), decisionsSchema.parse(given)) };
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    warn(`Cannot use the answer of ${endpoint}: ${reason}`);
    return { id, error: reason.slice(0, ERROR_LENGTH_MAX) };
  }
}

async function readText(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const piece of answer.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > READ_BYTES_MAX) throw new Error(`its answer has more than ${READ_BYTES_MAX} bytes`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** The answer; its first half, or less, where the whole is too long for one request. */
function toPage(
  { first_asked, asked }: z.infer<typeof askedSchema>,
  answer: z.infer<typeof decisionsSchema>,
): Record<string, unknown> {
  for (let count = answer.decisions.length;; count = Math.floor(count / 2)) {
    const isWhole = count === answer.decisions.length;
    const rest = isWhole ? {} : { first_asked, more: true };
    const cut = (values: unknown) => Array.isArray(values) ? values.slice(0, count) : values;
    const { plots = null } = answer;
    const drawn = plots === null
      ? {}
      : { plots: Object.fromEntries(Object.entries(plots).map(([name, values]) => [name, cut(values)])) };
    const page = { ...answer, decisions: answer.decisions.slice(0, count), ...drawn, ...rest };
    // A wrong number of decisions is for the service to name.
    if (answer.decisions.length !== asked || count <= 1) return page;
    if (new TextEncoder().encode(JSON.stringify(page)).byteLength <= ANSWER_BYTES_MAX) return page;
  }
}
