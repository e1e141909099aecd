import { type FailureCode, RunError } from "../../common/outcome.ts";
import type { RemoteTask } from "../../common/remote_task.ts";
import { type Action, AnswerError, type Page, readAnswer } from "./answer.ts";
import { ANSWER_BYTES_MAX, EndpointLine, LineFault } from "./line.ts";
import { type StepState, writeRequest } from "./request.ts";
import { restOf, type Stretch } from "./stretch.ts";

const ANSWER_BYTES_MAX_PER_CANDLE = 256;
/** Pages of one answer: an endpoint that decides on one candle at a time costs a request for each. */
export const PAGES_MAX = 16;

/** Asks one endpoint for decisions on one market. */
export class RemoteClient {
  readonly #task: RemoteTask;
  readonly #line: EndpointLine;

  /** @param line Of the run's other markets, too; absent: its own. */
  constructor(task: RemoteTask, line: EndpointLine = new EndpointLine(task.endpoint, task.timeoutMs)) {
    this.#task = task;
    this.#line = line;
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
