import type { Candles } from "../../../engine/candles.ts";
import type { TradingDayColumns } from "../../../engine/metrics/input.ts";
import { ORDERS_MAX, WARMUP_MAX } from "../contracts/abi.ts";
import { PEEKS_BIT, STATE, WINDOW_ROWS, WINDOWS_MAX } from "../contracts/layout.ts";
import type { Series } from "../candle_series.ts";
import { countCall } from "../decision_calls.ts";
import { nameCandle, roundCapacity } from "../player.ts";
import { sampleInput } from "../sample_candles.ts";
import { ask, brokenRealm, isOurs, isWhole, requireBuffer, ScriptError } from "./realm_answers.ts";
import { type CompiledScript, RealmGuest, type Report, type ShownColumn } from "./realm_guest.ts";
import { MoreWanted, type Reads } from "./reads.ts";
import type { Door } from "./realm/realm.ts";

export type { CompiledScript, ShownColumn };

/**
 * A script in a realm of its own: other globals, no function of ours, no way to make code from texts. Numbers, texts and buffers come
 * out of the realm, and each is checked; errors of the script are shown to its realm alone. A script that breaks its own realm fails.
 */
export class ScriptGuest extends RealmGuest {
  readonly warmup: number;
  /** Rows of the lists that the script reads, and whether it reads details of trades and fills. */
  readonly listsMax: Reads["listsMax"];
  readonly hasDetails: boolean;
  readonly hasFills: boolean;
  /** True if it says how good an entry would be. */
  readonly hasScore: boolean;
  /** Where the realm takes the rows of shown columns from, see realm/memory.ts. */
  readonly windows: Float64Array;
  /** Markets of the run. */
  readonly markets: number;
  /** A word with the candles of the range that were decided on, in shared memory. */
  readonly decided: SharedArrayBuffer;
  readonly #bits: number;
  #series: Series;
  #isPrepared = false;

  /**
   * @param parametersJson The parameters as the script reads them.
   * @param series The candles as the strategy's factory knows them.
   * @param report Gets the lines that the script logs, after each candle: it may never come back from the next one.
   * @param market Of the run's markets, which are made in their order.
   * @throws {RunError} When the script throws.
   */
  constructor(
    { open, reads }: CompiledScript,
    parametersJson: string,
    series: Series,
    report: Report | null = null,
    market = 0,
  ) {
    super(open(market), report);
    const { door } = this;
    this.listsMax = reads.listsMax;
    this.hasDetails = reads.hasDetails;
    this.hasFills = reads.hasFills;
    this.#bits = reads.bits;
    this.#series = series;
    this.markets = series.markets ?? 1;
    this.windows = new Float64Array(requireBuffer(door.windows, WINDOWS_MAX * WINDOW_ROWS * 8));
    this.decided = door.decided();
    this.begin();
    this.attempt("create the strategy", () => door.start(parametersJson, series.timeframeMs, series.firstIndex));
    const warmup = ask(() => door.warmup());
    this.warmup = isWhole(warmup, WARMUP_MAX) && warmup >= 1 ? warmup : 1;
    this.hasScore = ask(() => door.hasScore()) === true;
    this.takeLog();
  }

  /**
   * Gives a strategy that has just been made the candles of another range, as if it had been made for them.
   *
   * @returns False where it may know the first: it must be made anew.
   */
  move(series: Series): boolean {
    const { door, words } = this;
    if (this.#isPrepared || door.move === undefined || words[STATE.firstIndexRead / 4] !== 0) return false;
    ask(() => door.move?.(series.firstIndex));
    this.#series = series;
    return true;
  }

  /**
   * Lets the script ask for its indicators, and computes them. A guest plays one simulation: another one needs a guest of its own.
   *
   * @returns The columns that it sees.
   * @throws {RunError} When the script throws.
   */
  prepare(candles: Candles, days: TradingDayColumns | null): readonly ShownColumn[] {
    if (this.#isPrepared) throw new Error("Cannot prepare a script's guest twice: make one for each simulation");
    this.#isPrepared = true;
    const { door } = this;
    const { inputs = [], isTrial = false, timeframeMs } = this.#series;
    const names = JSON.stringify(isTrial ? null : inputs.map(({ name }) => name));
    const bits = this.#series.isWatched ? this.#bits | PEEKS_BIT : this.#bits;
    this.attempt("prepare", () => door.prepare(roundCapacity(candles.time.length), bits, names));
    this.takeLog();
    const given = isTrial ? { inputs: [sampleInput(candles)], ownMs: null } : { inputs, ownMs: timeframeMs };
    return this.showColumns(door, candles, { days, ...given });
  }

  /**
   * Decides on candles from `i` on and before `until`, up to the first with orders or lines for the log.
   *
   * @returns The candle of the orders if `rows` says that there are some; else the next one to decide on.
   * @throws {RunError} When the script throws.
   */
  decide(i: number, until: number, candles: Candles): number {
    let answer: unknown = i;
    try {
      answer = askToDecide(this.door, i, until);
    } catch (error) {
      throw this.explain(error, `Cannot go on at ${nameCandle(candles, i)}`);
    }
    if (this.words[STATE.wanted / 4] !== 0) throw new MoreWanted();
    if (this.words[STATE.logged / 4] !== this.logged) this.takeLog();
    const reached = isWhole(answer, until) && answer >= i ? answer : -1;
    const { rows } = this;
    const isDone = rows === 0 ? reached > i : isWhole(rows, ORDERS_MAX.limit) && reached < until;
    if (isDone && reached >= 0) return reached;
    const failed = reached < 0 || reached === until ? i : reached;
    throw this.explain(
      new ScriptError(ask(() => this.door.failure())),
      `Cannot go on at ${nameCandle(candles, failed)}`,
    );
  }

  /** How good an entry at the close of candle `i` would be. @throws {RunError} When the script throws. */
  score(i: number, candles: Candles): number {
    const at = `Cannot rank at ${nameCandle(candles, i)}`;
    let answer: unknown = NaN;
    try {
      answer = askInTime(() => this.door.score(i));
    } catch (error) {
      throw this.explain(error, at);
    }
    if (this.words[STATE.wanted / 4] !== 0) throw new MoreWanted();
    if (this.words[STATE.logged / 4] !== this.logged) this.takeLog();
    if (typeof answer === "number" && this.rows === 0) return answer;
    throw this.explain(new ScriptError(ask(() => this.door.failure())), at);
  }

  /** Orders of the last decision. */
  get rows(): number {
    return this.words[STATE.rows / 4]!;
  }
}

/** Like `ask`, for a call that may never end. */
function askInTime(call: () => unknown): unknown {
  countCall();
  try {
    return ask(call);
  } finally {
    countCall();
  }
}

/** Like `ask`, without a function for each candle. */
function askToDecide(door: Door, i: number, until: number): unknown {
  countCall();
  try {
    return door.decide(i, until);
  } catch (error) {
    if (isOurs(error)) throw error;
    throw brokenRealm("its functions fail");
  } finally {
    countCall();
  }
}
