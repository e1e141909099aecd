import { getLogger } from "@logtape/logtape";
import { z } from "zod";
import { FeedError, type FeedVariable } from "./feed.ts";
import { countRequest } from "./provider_metrics.ts";

const log = getLogger(["hindcast", "market"]);

interface Budget {
  /** Requests in each window of the clock, in the provider's weights. */
  readonly weightMax: number;
  readonly windowMs: number;
}

/** How to reach a provider. */
export interface ProviderOptions {
  readonly name: string;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly budget: Budget;
  readonly headers?: Readonly<Record<string, string>>;
  /** The header in which the provider counts the used weight of the window. */
  readonly usedWeightHeader?: string;
  readonly timeoutMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const TIMEOUT_MS = 20_000;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
// The pause after "too often" without a Retry-After.
const RETRY_AFTER_SECONDS = 60;
// A longer Retry-After is usually a mistake of units and would stop the feed for years. The longest real bans last some days, and one
// request a day shows when they end.
const RETRY_AFTER_SECONDS_MAX = 86_400;

/** The settings of a feed; each differs from the feed's own default. */
export type ProviderSettings = Partial<Omit<ProviderOptions, "baseUrl">> & { readonly baseUrl?: string | undefined };

/** The variable that names a mirror of a provider. */
export function mirrorVariable(name: string): FeedVariable {
  const schema = z.string().refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), {
    error: "must be an address such as https://data.example.com/path",
  }).transform((text) => text.replace(/\/+$/, "")).optional();
  return { schema, description: `A mirror of ${name}.`, unset: `${name}'s own` };
}

/** An answer with a status below 500 that does not mean "too often". */
interface ProviderAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** Sends requests to one provider within its limit, and classifies its errors. */
export class ProviderClient {
  readonly #options: ProviderOptions;
  readonly #now: () => number;
  #window = NaN;
  #weightUsed = 0;
  #blockedUntil = 0;

  constructor(options: ProviderOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * @param path Begins with a slash.
   * @throws {FeedError} `rate_limited` when the limit is used up, by our count or the provider's; `failed` without an answer in time.
   */
  async get(path: string, signal: AbortSignal | undefined, weight = 1): Promise<ProviderAnswer> {
    const window = this.#spend(weight);
    try {
      const answer = await this.#ask(path, signal);
      this.#count("answered");
      this.#noteUsedWeight(answer.headers, window);
      return answer;
    } catch (error) {
      if (error instanceof FeedError) this.#count(error.fault);
      throw error;
    }
  }

  /** Adopts the provider's own count, unless its window has passed. */
  #noteUsedWeight(headers: Headers, window: number): void {
    const { usedWeightHeader } = this.#options;
    const used = usedWeightHeader === undefined ? null : headers.get(usedWeightHeader);
    if (used === null || !/^\d+$/.test(used) || window !== this.#window) return;
    this.#weightUsed = Math.max(this.#weightUsed, Number(used));
  }

  #count(outcome: "answered" | "held_back" | FeedError["fault"]): void {
    countRequest(this.#options.name, outcome);
  }

  async #ask(path: string, signal: AbortSignal | undefined): Promise<ProviderAnswer> {
    const { name, baseUrl, headers, timeoutMs } = this.#options;
    const timeout = AbortSignal.timeout(timeoutMs ?? TIMEOUT_MS);
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        headers: { accept: "*/*", ...headers },
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      const bytes = await readBytes(response, name);
      this.#refuseErrors(response, bytes);
      return { status: response.status, headers: response.headers, bytes };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof FeedError) throw error;
      const reason = timeout.aborted
        ? "it did not answer in time"
        : error instanceof Error
        ? error.message
        : String(error);
      throw new FeedError("failed", `Cannot reach ${name}: ${reason}`, { cause: error });
    }
  }

  /** Counts a request and returns its window. */
  #spend(weight: number): number {
    const { name, budget } = this.#options;
    const now = this.#now();
    const window = Math.floor(now / budget.windowMs);
    if (window !== this.#window) {
      this.#window = window;
      this.#weightUsed = 0;
    }
    const isSpent = this.#weightUsed + weight > budget.weightMax;
    const until = Math.max(this.#blockedUntil, isSpent ? (window + 1) * budget.windowMs : 0);
    if (until > now) {
      this.#count("held_back");
      const retryAfterSeconds = Math.ceil((until - now) / 1000);
      throw new FeedError("rate_limited", `Cannot ask ${name} more often: its limit is used up`, { retryAfterSeconds });
    }
    this.#weightUsed += weight;
    return window;
  }

  #refuseErrors({ status, headers }: Response, bytes: Uint8Array): void {
    const { name } = this.#options;
    if (status === 429 || status === 418) {
      const asked = parseRetryAfter(headers.get("retry-after"), this.#now());
      const retryAfterSeconds = Math.min(asked, RETRY_AFTER_SECONDS_MAX);
      if (asked > retryAfterSeconds) {
        log.warning(
          "{name} answered {status} with a Retry-After of {asked} s: the next request waits {retryAfterSeconds} s",
          { name, status, asked, retryAfterSeconds },
        );
      }
      this.#blockedUntil = this.#now() + retryAfterSeconds * 1000;
      throw new FeedError("rate_limited", `Cannot ask ${name} more often: it answered ${status}`, {
        retryAfterSeconds,
      });
    }
    if (status >= 500) throw new FeedError("failed", `Cannot use ${name}: it answered ${status}${excerpt(bytes)}`);
  }
}

/** The start of an answer on one line, for a message. */
export function excerpt(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, 200)).replaceAll(/\s+/g, " ").trim();
  return text === "" ? "" : `: ${text}`;
}

/** The JSON of an answer. @throws {FeedError} `failed` for anything else: usually it was cut on its way, or a proxy sent it. */
export function parseJson(bytes: Uint8Array, name: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new FeedError("failed", `Cannot read the answer of ${name}: it is not JSON${excerpt(bytes)}`, {
      cause: error,
    });
  }
}

/** Seconds, from a Retry-After of seconds or a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(header: string | null, now: number): number {
  if (header === null) return RETRY_AFTER_SECONDS;
  const seconds = /^\d+$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - now) / 1000);
  return seconds > 0 ? seconds : RETRY_AFTER_SECONDS;
}

async function readBytes(response: Response, name: string): Promise<Uint8Array> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > ANSWER_BYTES_MAX) {
      throw new FeedError("refused", `Cannot use ${name}: its answer is longer than ${ANSWER_BYTES_MAX} bytes`);
    }
    parts.push(part);
  }
  return await new Blob(parts).bytes();
}
