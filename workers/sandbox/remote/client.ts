import { type FailureCode, RunError } from "../../common/outcome.ts";
import type { RemoteTask } from "../../common/remote_task.ts";
import { type Action, type Page, readAnswer } from "./answer.ts";
import { AnswerError } from "./answer_fault.ts";
import { ANSWER_BYTES_MAX, EndpointLine, LineFault } from "./line.ts";
import { type Drawn, EndpointPlots } from "./plots.ts";
import { type StepState, writeRequest } from "./request.ts";
import { restOf, type Stretch } from "./stretch.ts";

const ANSWER_BYTES_MAX_PER_CANDLE = 256;
/** Pages of one answer: an endpoint that decides on one candle at a time costs a request for each. */
export const PAGES_MAX = 16;

/** The decisions on a stretch, and the series of each page of the answer. */
export interface Answered {
  readonly decisions: readonly (readonly Action[])[];
  readonly drawn: readonly Drawn[];
}

/** Asks one endpoint for decisions on one market. */
export class RemoteClient {
  readonly #task: RemoteTask;
  readonly #line: EndpointLine;
  /** The series of the run: integrity checks draw none. */
  readonly plots: EndpointPlots;

  /** @param line Of the run's other markets, too; absent: its own. */
  constructor(task: RemoteTask, line: EndpointLine = new EndpointLine(task.endpoint, task.timeoutMs)) {
    this.#task = task;
    this.#line = line;
    this.plots = new EndpointPlots(task.candles.time.length);
  }

  /**
   * The actions of each asked candle of a stretch.
   *
   * @param state The account, its trades and its orders, in step mode.
   * @throws {RunError} When there is no answer, or an invalid one.
   */
  async ask(stretch: Stretch, state: StepState | null = null): Promise<Answered> {
    return await this.askWith(stretch, writeRequest(this.#task, stretch, state));
  }

  /** Like `ask`, with a written request. Further pages of its answer are asked for with requests of their own. */
  async askWith(stretch: Stretch, request: string): Promise<Answered> {
    const decided: (readonly Action[])[] = [];
    const drawn: Drawn[] = [];
    let rest = stretch;
    for (let pages = 1;; pages++) {
      const text = pages === 1 ? request : writeRequest(this.#task, rest, null);
      const { decisions, series, more } = this.#read(await this.#post(rest, text), rest, pages > 1);
      if (series.length > 0) drawn.push({ at: decided.length, series });
      decided.push(...decisions);
      if (!more) return { decisions: decided, drawn };
      rest = restOf(rest, decisions.length, this.#task.lookbackCandles);
      if (pages === PAGES_MAX) {
        throw this.#failure("INVALID_SIGNAL", rest.first, `/more is true after ${PAGES_MAX} pages of one answer`);
      }
    }
  }

  /** Keeps the series of the answer about a stretch, which the run has come to. @throws {RunError} */
  draw({ first }: Stretch, { drawn }: Answered): void {
    for (const { at, series } of drawn) {
      try {
        this.plots.take(first + at, series);
      } catch (error) {
        throw error instanceof AnswerError ? this.#failure("INVALID_SIGNAL", first + at, error.message) : error;
      }
    }
  }

  /** Ends every request and every connection. */
  close(): void {
    this.#line.close();
  }

  async #post({ first, until }: Stretch, request: string): Promise<Uint8Array> {
    try {
      return await this.#line.post(request, ANSWER_BYTES_MAX + ANSWER_BYTES_MAX_PER_CANDLE * (until - first));
    } catch (error) {
      throw error instanceof LineFault ? this.#failure(error.code, first, error.message) : error;
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
}

/** A candle for the endpoint's author: its number on the wire, its time, and its market where the run has several. */
export function describeCandle({ candles, firstIndex, market }: RemoteTask, index: number): string {
  const where = market === undefined ? "" : ` of ${market}`;
  return `candle ${index - firstIndex}${where} (${new Date(candles.time[index]!).toISOString()})`;
}
