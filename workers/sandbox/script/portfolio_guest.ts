import type { Candles } from "../../../engine/candles.ts";
import { type Period, PERIODS, type PortfolioMarket } from "../../../engine/portfolio/portfolio.ts";
import { WARMUP_MAX } from "../contracts/abi.ts";
import { MEMORY_BYTES, PEEKS_BIT, PORTFOLIO as AT, STATE } from "../contracts/layout.ts";
import { countCall } from "../decision_calls.ts";
import { roundCapacity } from "../player.ts";
import { sampleInput } from "../sample_candles.ts";
import { ask, askText, brokenRealm, isWhole, requireBuffer, ScriptError } from "./realm_answers.ts";
import { type CompiledScript, RealmGuest, type Report, type ShownColumn } from "./realm_guest.ts";
import { MoreWanted, type Reads } from "./reads.ts";
import type { PortfolioDoor } from "./realm/portfolio.ts";

const TAG_CHARS_MAX = 64;

/** A run's markets, as a strategy for all of them knows them before it sees a candle. */
export interface PortfolioSeries {
  readonly timeframeMs: number;
  readonly markets: readonly PortfolioMarket[];
  /** Marks of the run: rows of its plots. */
  readonly marks: number;
  /** True for made-up markets, which any name finds. */
  readonly isTrial?: boolean;
  /** True: reads of candles that have not closed are noticed. */
  readonly isWatched?: boolean;
}

/** A script that decides on many markets, in a realm of its own. */
export class PortfolioGuest extends RealmGuest {
  readonly warmup: number;
  readonly every: Period | null;
  /** Rows of the lists that the script reads. */
  readonly listsMax: Reads["listsMax"];
  readonly hasDetails: boolean;
  readonly hasFills: boolean;
  /** The numbers of the account, the markets and the last decision (layout.ts, PORTFOLIO). */
  readonly state: Float64Array;
  readonly #portfolio: PortfolioDoor;
  readonly #bits: number;
  readonly #series: PortfolioSeries;

  /** @throws {RunError} When the script throws. */
  constructor(
    { open, reads }: CompiledScript,
    parametersJson: string,
    series: PortfolioSeries,
    report: Report | null = null,
  ) {
    super(open(0), report);
    this.begin();
    const { portfolio } = this.door;
    if (portfolio === undefined) throw brokenRealm("it has no portfolio");
    this.#portfolio = portfolio;
    this.#series = series;
    this.listsMax = reads.listsMax;
    this.hasDetails = reads.hasDetails;
    this.hasFills = reads.hasFills;
    this.#bits = series.isWatched ? reads.bits | PEEKS_BIT : reads.bits;
    const { markets, timeframeMs, isTrial = false } = series;
    const names = JSON.stringify(markets.map(({ id, symbol, exchange }) => [id, symbol, exchange]));
    this.attempt("create the strategy", () => portfolio.start(parametersJson, timeframeMs, names, isTrial));
    const warmup = ask(portfolio.warmup);
    this.warmup = isWhole(warmup, WARMUP_MAX) && warmup >= 1 ? warmup : 1;
    const every = askText(portfolio.every, "its period", TAG_CHARS_MAX);
    this.every = PERIODS.find((period) => period === every) ?? null;
    this.state = new Float64Array(
      requireBuffer(portfolio.state, 8 * (AT.head + markets.length * (AT.market + 2))),
    );
    this.takeLog();
  }

  /** Lets the script ask for its indicators, and computes them. @param candlesOf Of each market. @returns The columns that it sees of each market. */
  prepare(candlesOf: readonly Candles[]): readonly (readonly ShownColumn[])[] {
    const { markets, marks, timeframeMs, isTrial = false } = this.#series;
    const portfolio = this.#portfolio;
    const inputs = JSON.stringify(isTrial ? null : (markets[0]?.inputs ?? []).map(({ name }) => name));
    const rows = JSON.stringify(candlesOf.map(({ time }) => roundCapacity(time.length)));
    this.attempt("prepare", () => portfolio.prepare(rows, this.#bits, inputs, roundCapacity(marks)));
    this.takeLog();
    return markets.map(({ tradingDays: days = null, inputs = [] }, market) => {
      const door = {
        requests: () => portfolio.requests(market),
        shown: () => portfolio.shown(market),
        column: (n: number) => portfolio.column(market, n),
      };
      const candles = candlesOf[market]!;
      return this.showColumns(door, candles, {
        days,
        ...(isTrial ? { inputs: [sampleInput(candles)], ownMs: null } : { inputs, ownMs: timeframeMs }),
      });
    });
  }

  /** Decides at a moment. @param row Of the mark. @throws {RunError} When the script throws. */
  decide(now: number, row: number): void {
    const doing = `Cannot go on at ${new Date(now).toISOString()}`;
    let answer: unknown;
    countCall();
    try {
      answer = ask(() => this.#portfolio.decide(now, row));
    } catch (error) {
      throw this.explain(error, doing);
    } finally {
      countCall();
    }
    if (this.words[STATE.wanted / 4] !== 0) throw new MoreWanted();
    if (this.words[STATE.logged / 4] !== this.logged) this.takeLog();
    if (answer !== 0) throw this.explain(new ScriptError(ask(() => this.door.failure())), doing);
  }

  /** The tag of the last targets; null: none. */
  tag(): string | null {
    const tag = askText(this.#portfolio.tag, "a tag", TAG_CHARS_MAX);
    return tag === "" ? null : tag;
  }

  /** The memory of a market's orders; null: it has none. */
  book(market: number): ArrayBuffer | null {
    const buffer = requireBuffer(() => this.#portfolio.book(market), 0);
    if (buffer.byteLength === 0) return null;
    if (buffer.byteLength < MEMORY_BYTES) throw brokenRealm("a market has no orders");
    return buffer;
  }
}
