/**
 * Bounds of the messages of a sandbox's process. A process may be taken over by the code that it runs, so its parent holds each message
 * to them before it takes memory for it. docs/security.md has them as a table.
 */
import { CURVE_POINTS_MAX } from "../../research/monte_carlo/curve.ts";
import { STORED_BYTES_MAX } from "./contracts/log_bounds.ts";
import type { MarketsTask } from "../common/protocol.ts";
import type { FrameBounds } from "./frames.ts";
import type { SandboxJob } from "./task.ts";
import { ORDERS_MAX, RUN_ORDERS_MAX, RUN_TAGS_MAX, TAG_BYTES_MAX } from "./contracts/abi.ts";

const MIB = 2 ** 20;
/** The JSON of a message without tags: a log, whose quotes take two bytes each, metrics and notes. */
const HEAD_BYTES_MAX = 2 * STORED_BYTES_MAX + MIB;
/** The JSON of a trial, or of a path. */
export const SMALL_BYTES_MAX = 2 ** 16;
/** Bytes of a tag in JSON: each of its own may be written as two, between quotes and behind a comma. */
const TAG_JSON_BYTES = 2 * TAG_BYTES_MAX + 3;
/** Values in the JSON of a message without tags: metrics, reasons, notes, a log and the places of columns. */
const HEAD_VALUES_MAX = 2 ** 16;
/** Rows of its lists of texts: of a log and of notes. */
const HEAD_ROWS_MAX = 2 ** 12;
/** An order has a tag, and each of its trades, four at most, two. */
const TAG_COLUMNS = 3;
const TAG_ROWS = 1 + 4 * 2;
/** Columns of an order and its trades. */
const ORDER_ROW_BYTES = 256;
/** Columns of a candle: equity, position, balances, and 16 plots. */
const CANDLE_ROW_BYTES = 8 * 32;
/** A market's weights at 500 marks, its contribution and its correlations. */
const MARKET_BYTES = 2 ** 14;
/** No column of a message is longer than this. */
export const BODY_BYTES_MAX = 2 ** 29;

/** Of what a process writes on standard error, the last characters are kept; of a fault of ours that it reports, the first. */
export const ERRORS_CHARS_MAX = 16_384;

/** The bounds of all messages of a process together, beside their results: progress, memory and logs. */
export const TALK = {
  /** At first, and further ones a second. Ours are eight a second, and a line of a log each. */
  messages: 10_000,
  messagesPerSecond: 100,
  bytes: 16 * MIB,
  bytesPerSecond: 2 ** 16,
} as const;

/** The bounds of a job's messages. */
export interface AnswerBounds {
  /** Of one message: its JSON, and its columns. */
  readonly headBytesMax: number;
  readonly bodyBytesMax: number;
  /** Orders of a run; 0 of anything else. */
  readonly ordersMax: number;
  /** Of trials, or of paths. */
  readonly resultsMax: number;
  /** Rows of a curve. */
  readonly candlesMax: number;
}

/** The bounds of the messages that a job may cause. */
export function boundsOf(job: SandboxJob): AnswerBounds {
  switch (job.kind) {
    case "fetch":
      return {
        headBytesMax: SMALL_BYTES_MAX,
        bodyBytesMax: job.bytesMax + 8,
        ordersMax: 0,
        resultsMax: 0,
        candlesMax: 0,
      };
    case "validate":
    case "check_script":
      return {
        headBytesMax: HEAD_BYTES_MAX,
        bodyBytesMax: SMALL_BYTES_MAX,
        ordersMax: 0,
        resultsMax: 0,
        candlesMax: 0,
      };
    case "run_trials":
    case "script_trials":
    case "run_markets_trials":
    case "script_markets_trials": {
      const candlesMax = "markets" in job.task ? countRows(job.task) : job.task.candles.time.length;
      const bodyBytesMax = SMALL_BYTES_MAX + 8 * candlesMax;
      return {
        headBytesMax: SMALL_BYTES_MAX,
        bodyBytesMax,
        ordersMax: 0,
        resultsMax: job.parametersJson.length,
        candlesMax,
      };
    }
    case "run_paths":
    case "script_paths": {
      const bodyBytesMax = 8 * (CURVE_POINTS_MAX + 1);
      const candlesMax = job.task.candles.time.length;
      return {
        headBytesMax: SMALL_BYTES_MAX,
        bodyBytesMax,
        ordersMax: 0,
        resultsMax: job.until - job.from,
        candlesMax,
      };
    }
    case "run_markets":
    case "script_markets":
    case "remote_markets": {
      const { markets } = job.task;
      const bounds = boundsOfRun(countRows(job.task));
      const bodyBytesMax = Math.min(BODY_BYTES_MAX, bounds.bodyBytesMax + markets.length * MARKET_BYTES);
      return { ...bounds, bodyBytesMax };
    }
    default:
      return boundsOfRun(job.task.candles.time.length);
  }
}

/** The marks of an account over many markets, at most. */
function countRows({ markets }: Pick<MarketsTask, "markets">): number {
  return markets.reduce((sum, { candles }) => sum + candles.time.length, 0);
}

function boundsOfRun(candlesMax: number): AnswerBounds {
  const orders = Math.min(RUN_ORDERS_MAX, candlesMax * ORDERS_MAX.limit);
  const body = SMALL_BYTES_MAX + candlesMax * CANDLE_ROW_BYTES + orders * ORDER_ROW_BYTES;
  return {
    headBytesMax: HEAD_BYTES_MAX + Math.min(RUN_TAGS_MAX, orders) * TAG_JSON_BYTES,
    bodyBytesMax: Math.min(BODY_BYTES_MAX, body),
    ordersMax: orders,
    resultsMax: 1,
    candlesMax,
  };
}

/** A message of a process is beyond its bounds, or none of ours; the message is the rest of a sentence. */
export class AnswerFault extends Error {
  override readonly name = "AnswerFault";
}

/** Counts the messages of a process. */
export class AnswerMeter {
  #bounds: AnswerBounds;
  readonly #begun = performance.now();
  #messages = 0;
  #bytes = 0;
  #results = 0;

  constructor(bounds: AnswerBounds) {
    this.#bounds = bounds;
  }

  get bounds(): AnswerBounds {
    return this.#bounds;
  }

  /** The job goes on as another one, with more candles. */
  widen(bounds: AnswerBounds): void {
    this.#bounds = { ...bounds, resultsMax: Math.max(bounds.resultsMax, this.#bounds.resultsMax) };
  }

  /** Lets a message in, before there is memory for it. @returns The bounds of what it holds. @throws {AnswerFault} */
  admit(headBytes: number, bodyBytes: number): FrameBounds {
    const { headBytesMax, bodyBytesMax, ordersMax, resultsMax } = this.#bounds;
    if (headBytes > headBytesMax) {
      throw new AnswerFault(`a message has ${headBytes} bytes of JSON: at most ${headBytesMax}`);
    }
    if (bodyBytes > bodyBytesMax) {
      throw new AnswerFault(`a message has columns of ${bodyBytes} bytes: at most ${bodyBytesMax}`);
    }
    const seconds = (performance.now() - this.#begun) / 1000;
    const bytesMax = TALK.bytes + seconds * TALK.bytesPerSecond +
      Math.max(1, resultsMax) * (headBytesMax + bodyBytesMax);
    this.#bytes += headBytes + bodyBytes;
    if (this.#bytes > bytesMax) throw new AnswerFault(`its messages have more than ${Math.floor(bytesMax)} bytes`);
    const messagesMax = TALK.messages + seconds * TALK.messagesPerSecond + resultsMax;
    if (++this.#messages > messagesMax) {
      throw new AnswerFault(`it has sent more than ${Math.floor(messagesMax)} messages`);
    }
    return {
      valuesMax: HEAD_VALUES_MAX + TAG_COLUMNS * Math.min(RUN_TAGS_MAX, ordersMax),
      textRowsMax: HEAD_ROWS_MAX + TAG_ROWS * ordersMax,
    };
  }

  /** Counts a trial, or a path. @throws {AnswerFault} */
  countResult(): void {
    if (++this.#results > this.#bounds.resultsMax) {
      throw new AnswerFault(`it has more results than the ${this.#bounds.resultsMax} that were asked for`);
    }
  }
}
