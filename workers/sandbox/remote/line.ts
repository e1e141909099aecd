import type { FailureCode } from "../../common/outcome.ts";
import type { PinnedEndpoint } from "../../common/remote_task.ts";
import { CallError, EndpointCaller, type HttpAnswer } from "./http.ts";

/** Requests in flight at once. */
export const IN_FLIGHT_MAX = 4;
/** An answer may have this many bytes, and some more for each candle or market that it is about. */
export const ANSWER_BYTES_MAX = 1024 * 1024;
const TRIES_MAX = 4;
const PAUSE_MS = 200;
// Failures in a row, over all requests, after which no request is tried again.
const BREAKER_FAILURES = 8;
const ERROR_CHARACTERS_MAX = 200;

/** No answer came: the code of the run's failure, and the end of a sentence. */
export class LineFault extends Error {
  override readonly name = "LineFault";

  constructor(readonly code: FailureCode, message: string) {
    super(message);
  }
}

/** The connections of a run to its endpoint, and its failures so far: all markets of a run share them. */
export class EndpointLine {
  readonly #caller: EndpointCaller;
  readonly #isServed: boolean;
  readonly #timeoutMs: number;
  readonly #closing = new AbortController();
  readonly #waiting: (() => void)[] = [];
  #free = IN_FLIGHT_MAX;
  #failuresInARow = 0;

  /** @param timeoutMs Of one try of one request. */
  constructor(endpoint: PinnedEndpoint, timeoutMs: number) {
    this.#caller = new EndpointCaller(endpoint, IN_FLIGHT_MAX);
    this.#isServed = endpoint.isServed === true;
    this.#timeoutMs = timeoutMs;
  }

  /** The body of an answer with status 200, of at most `bytesMax`. @throws {LineFault} When there is none, also after retries. */
  async post(request: string, bytesMax: number): Promise<Uint8Array> {
    if (this.#free === 0) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#free--;
    try {
      return await this.#post(request, bytesMax);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  /** Ends every request and every connection. */
  close(): void {
    this.#closing.abort();
    this.#caller.close();
  }

  async #post(request: string, bytesMax: number): Promise<Uint8Array> {
    for (let tries = 1;; tries++) {
      const failure = await this.#try(request, bytesMax);
      if (!("again" in failure)) return failure.body;
      const broken = this.#failuresInARow >= BREAKER_FAILURES;
      if (failure.again && tries < TRIES_MAX && !broken) await this.#pause(tries);
      else throw new LineFault(failure.code, failure.message + (tries === 1 ? "" : ` (asked ${tries} times)`));
    }
  }

  async #try(
    request: string,
    bytesMax: number,
  ): Promise<HttpAnswer | { readonly again: boolean; readonly code: FailureCode; readonly message: string }> {
    try {
      const limits = { timeoutMs: this.#timeoutMs, bytesMax, signal: this.#closing.signal };
      const answer = await this.#caller.post(request, limits);
      if (answer.status === 200) {
        this.#failuresInARow = 0;
        return answer;
      }
      const again = answer.status >= 500 || answer.status === 429;
      this.#failuresInARow++;
      const message = this.#isServed ? readReason(answer.body) : describeStatus(answer);
      return { again, code: "ENDPOINT_FAILED", message: message || "it gave no reason" };
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      this.#failuresInARow++;
      const code = error.kind === "timeout" ? "STRATEGY_TIMED_OUT" : "ENDPOINT_FAILED";
      return { again: error.kind === "broken", code, message: error.message };
    }
  }

  /** Waits longer before each retry, with a random part, so that runs do not retry together. */
  async #pause(tries: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, PAUSE_MS * 2 ** (tries - 1) * (0.5 + Math.random() / 2));
    const signal = this.#closing.signal;
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
    await promise;
    clearTimeout(timer);
  }
}

/** A status in words, with the endpoint's own message `{"error": "…"}`, which helps its author. */
function describeStatus({ status, body }: HttpAnswer): string {
  if (status >= 300 && status < 400) return `it answered with a redirect (HTTP ${status}), which is not followed`;
  const reason = readReason(body);
  return `it answered HTTP ${status}${reason === "" ? "" : `: ${reason}`}`;
}

/** The endpoint's own message; empty where it has none. */
function readReason(body: Uint8Array): string {
  try {
    const answer: unknown = JSON.parse(new TextDecoder().decode(body));
    if (typeof answer !== "object" || answer === null || !("error" in answer)) return "";
    if (typeof answer.error !== "string") return "";
    return answer.error.replace(/\p{C}+/gu, " ").slice(0, ERROR_CHARACTERS_MAX);
  } catch {
    return "";
  }
}
