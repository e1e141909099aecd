import { type FailureCode, RunError } from "../../common/outcome.ts";
import type { RemoteTask } from "../../common/protocol.ts";
import { type Action, AnswerError, type Page, readAnswer } from "./answer.ts";
import { CallError, EndpointCaller, type HttpAnswer } from "./http.ts";
import { restOf, type StepState, type Stretch, writeRequest } from "./request.ts";

/** Requests in flight at once in batch mode. */
export const IN_FLIGHT_MAX = 4;
const TRIES_MAX = 4;
const PAUSE_MS = 200;
// Failures in a row, over all requests, after which no request is tried again.
const BREAKER_FAILURES = 8;
const ANSWER_BYTES_MAX = 1024 * 1024;
const ANSWER_BYTES_MAX_PER_CANDLE = 256;
const ERROR_CHARACTERS_MAX = 200;
/** Pages of one answer: an endpoint that decides on one candle at a time costs a request for each. */
export const PAGES_MAX = 16;

/** Asks one endpoint for decisions, and retries where a retry may help. */
export class RemoteClient {
  readonly #task: RemoteTask;
  readonly #caller: EndpointCaller;
  readonly #closing = new AbortController();
  #failuresInARow = 0;

  constructor(task: RemoteTask) {
    this.#task = task;
    this.#caller = new EndpointCaller(task.endpoint, IN_FLIGHT_MAX);
  }

  /**
   * The actions of each asked candle of a stretch.
   *
   * @param state The account, its trades and its orders, in step mode.
   * @throws {RunError} When there is no answer, or an invalid one.
   */
  async ask(stretch: Stretch, state: StepState | null = null): Promise<readonly (readonly Action[])[]> {
    return await this.askWith(stretch, writeRequest(this.#task, stretch, state));
  }

  /** Like `ask`, with a written request. Further pages of its answer are asked for with requests of their own. */
  async askWith(stretch: Stretch, request: string): Promise<readonly (readonly Action[])[]> {
    const decided: (readonly Action[])[] = [];
    let rest = stretch;
    for (let pages = 1;; pages++) {
      const text = pages === 1 ? request : writeRequest(this.#task, rest, null);
      const { decisions, more } = this.#read(await this.#post(rest, text), rest, pages > 1);
      decided.push(...decisions);
      if (!more) return decided;
      rest = restOf(rest, decisions.length, this.#task.lookbackCandles);
      if (pages === PAGES_MAX) {
        throw this.#failure("INVALID_SIGNAL", rest.first, `/more is true after ${PAGES_MAX} pages of one answer`);
      }
    }
  }

  /** The body of an answer with status 200. @throws {RunError} When there is none, also after retries. */
  async #post(stretch: Stretch, request: string): Promise<Uint8Array> {
    const asked = stretch.until - stretch.first;
    const limits = {
      timeoutMs: this.#task.timeoutMs,
      bytesMax: ANSWER_BYTES_MAX + ANSWER_BYTES_MAX_PER_CANDLE * asked,
      signal: this.#closing.signal,
    };
    for (let tries = 1;; tries++) {
      const failure = await this.#try(request, limits, stretch);
      if (!("again" in failure)) return failure.body;
      const broken = this.#failuresInARow >= BREAKER_FAILURES;
      if (failure.again && tries < TRIES_MAX && !broken) await this.#pause(tries);
      else {
        const times = tries === 1 ? "" : ` (asked ${tries} times)`;
        throw this.#failure(failure.code, stretch.first, failure.message + times);
      }
    }
  }

  /** Ends every request and every connection. */
  close(): void {
    this.#closing.abort();
    this.#caller.close();
  }

  async #try(
    request: string,
    limits: Parameters<EndpointCaller["post"]>[1],
    { first }: Stretch,
  ): Promise<HttpAnswer | { readonly again: boolean; readonly code: FailureCode; readonly message: string }> {
    try {
      const answer = await this.#caller.post(request, limits);
      if (answer.status === 200) {
        this.#failuresInARow = 0;
        return answer;
      }
      const again = answer.status >= 500 || answer.status === 429;
      this.#failuresInARow++;
      return { again, code: "ENDPOINT_FAILED", message: describeStatus(answer) };
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      this.#failuresInARow++;
      if (error.kind === "timeout") throw this.#failure("STRATEGY_TIMED_OUT", first, error.message);
      return { again: error.kind === "broken", code: "ENDPOINT_FAILED", message: error.message };
    }
  }

  #read(body: Uint8Array, { first, until }: Stretch, isContinued: boolean): Page {
    try {
      return readAnswer(body, { first: first - this.#task.firstIndex, count: until - first, isContinued });
    } catch (error) {
      if (error instanceof AnswerError) throw this.#failure("INVALID_SIGNAL", first + error.asked, error.message);
      throw error;
    }
  }

  #failure(code: FailureCode, index: number, message: string): RunError {
    const what = code === "INVALID_SIGNAL" ? "use the answer of" : "get an answer from";
    const candle = describeCandle(this.#task, index);
    return new RunError(code, `Cannot ${what} ${this.#task.endpoint.host} for ${candle}: ${message}`);
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

/** A candle for the endpoint's author: its number on the wire and its time. */
export function describeCandle({ candles, firstIndex }: RemoteTask, index: number): string {
  return `candle ${index - firstIndex} (${new Date(candles.time[index]!).toISOString()})`;
}

/** A status in words, with the endpoint's own message `{"error": "…"}`, which helps its author. */
function describeStatus({ status, body }: HttpAnswer): string {
  if (status >= 300 && status < 400) return `it answered with a redirect (HTTP ${status}), which is not followed`;
  return `it answered HTTP ${status}${readError(body)}`;
}

function readError(body: Uint8Array): string {
  try {
    const answer: unknown = JSON.parse(new TextDecoder().decode(body));
    if (typeof answer !== "object" || answer === null || !("error" in answer)) return "";
    if (typeof answer.error !== "string") return "";
    const text = answer.error.replace(/\p{C}+/gu, " ").slice(0, ERROR_CHARACTERS_MAX);
    return `: ${text}`;
  } catch {
    return "";
  }
}
