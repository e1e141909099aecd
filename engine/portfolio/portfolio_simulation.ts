import { takeDoubles } from "../buffer_pool.ts";
import { isAskedToStop, nextLook, writeProgress } from "../control.ts";
import type { Execution } from "../execution.ts";
import { Market } from "../market.ts";
import { OrderLog } from "../order_log.ts";
import { hasFinancing } from "../rules/financing.ts";
import { rulesOf } from "../rules_of_run.ts";
import { RunStopped } from "../run.ts";
import { DELISTED, MARGIN_CALL } from "../trade_columns.ts";
import { TradeLog } from "../trade_log.ts";
import { TradingAccount } from "../trading_account.ts";
import { type Decider, EachDecides, PortfolioDecides } from "./decisions.ts";
import { payInterest } from "./interest.ts";
import { Opens } from "./opens.ts";
import type { PortfolioRequest } from "./portfolio.ts";
import { Positions } from "./positions.ts";
import { RowSeats } from "./row_seats.ts";
import { Seat } from "./seat.ts";
import type { PortfolioPlan, Timeline } from "./timeline.ts";
import { Valuation } from "./valuation.ts";

/** Reads the positions of a row when it is marked; again where orders are filled at its close. */
type OnMark = (row: number, positions: Positions) => void;

/**
 * An account with many markets. Goes through the rows of a timeline: opens of candles that begin before the row's instant, the inside
 * of candles that close at it, marks, decisions.
 *
 * Only markets with a position, orders, a target or a decision are looked at. simulation.ts is the same with one market; a
 * portfolio of one gives the same bytes.
 */
export class PortfolioSimulation {
  readonly account: TradingAccount;
  readonly seats: readonly Seat[];
  readonly orders: OrderLog;
  readonly trades: TradeLog;
  readonly positions: Positions;
  readonly equity: Float64Array;
  readonly cash: Float64Array;
  readonly net: Float64Array;
  readonly gross: Float64Array;
  readonly timeline: Timeline;
  readonly #execution: Execution;
  readonly #opens: Opens;
  readonly #decider: Decider;
  readonly #hasFinancing: boolean;
  /** True if rows in which no market needs a look change the account all the same. */
  readonly #looksAtAll: boolean;
  readonly #callsAtCloses: boolean;
  readonly #closesAtEnd: boolean;
  readonly #onMark: OnMark | null;
  readonly #row: RowSeats;

  constructor(request: PortfolioRequest, plan: PortfolioPlan, onMark: OnMark | null) {
    const { markets, initialBalance, timeframeMs, strategy, currencies = [], pool = null } = request;
    const { timeline, callsAtCloses } = plan;
    // Markets then have no calls of their own.
    const execution = callsAtCloses ? { ...plan.execution, marginCall: false } : plan.execution;
    const rows = timeline.instant.length;
    // Rates move the account as other markets do: a price alone says nothing about a margin call.
    const isShared = markets.length > 1 || markets.some(({ currency }) => (currency ?? null) !== null);
    const account = new TradingAccount(initialBalance, isShared);
    const times = markets.map(({ candles }) => candles.time);
    const orders = new OrderLog(times, pool);
    const trades = new TradeLog(times, pool);
    this.account = account;
    this.orders = orders;
    this.trades = trades;
    this.timeline = timeline;
    this.#onMark = onMark;
    this.equity = takeDoubles(pool, rows);
    this.cash = takeDoubles(pool, rows);
    this.net = takeDoubles(pool, rows);
    this.gross = takeDoubles(pool, rows);
    const rules = rulesOf(execution);
    this.#execution = execution;
    this.#hasFinancing = hasFinancing(execution);
    this.#callsAtCloses = callsAtCloses;
    this.#looksAtAll = this.#hasFinancing || callsAtCloses;
    this.#closesAtEnd = execution.closeAtEnd !== "none";
    const shared = { timeframeMs, rules, account, orders, trades, keepsDetails: onMark !== null };
    const valuation = new Valuation(markets.length);
    this.seats = markets.map((input, index) => {
      // Bounds override bothTouched in the plan and still replay the run's finer candles.
      const finer = request.execution.bothTouched === "magnify" ? input.finer ?? null : null;
      const own = strategy.kind === "each" ? strategy.strategies[index] ?? null : null;
      const market = new Market({ ...input, ...shared, index, finer });
      return new Seat(input, market, { closes: timeline.closes[index]!, strategy: own, valuation });
    });
    const mayCall = execution.marginCall || callsAtCloses;
    this.positions = new Positions({ account, margin: rules.margin, mayCall, currencies, valuation });
    this.#opens = new Opens(rules, this.positions);
    if (strategy.kind === "each") {
      account.positionsMax = strategy.positionsMax;
      this.#decider = new EachDecides(this.seats, strategy, this.positions);
    } else this.#decider = new PortfolioDecides(this.seats, strategy, account, this.positions, plan);
    this.#row = new RowSeats(this.seats, timeline, this.#decider);
  }

  /** Goes through all rows. @param control Words of control.ts, or null. @throws {RunStopped} When they ask for it. */
  run(control: Int32Array | null): void {
    const { instant } = this.timeline;
    for (let row = 0; row < instant.length; row++) {
      if (!this.advance(row) || !this.decide(row)) break;
      if (control === null || row !== nextLook(row)) continue;
      if (isAskedToStop(control)) throw new RunStopped(row);
      writeProgress(control, { candlesDone: row, equity: this.equity[row - 1] ?? NaN });
    }
    this.finish();
  }

  /** Takes the account to the marks of a row, one after the last; false when nothing is left of it. */
  advance(row: number): boolean {
    const { time, instant: { [row]: instant = NaN } } = this.timeline;
    const isQuiet = !this.#row.begin(row);
    if (isQuiet && !this.#looksAtAll && !this.#mayBeCalled(row)) return this.#mark(row, instant);
    const { opening, closing } = this.#row;
    if (this.#hasFinancing && row > 0) {
      payInterest(this.#execution, this.account, this.positions.held, opening, [time[row - 1]!, time[row]!]);
    }
    this.#open(row);
    this.#close(row, instant);
    if (this.#callsAtCloses) this.#callAtCloses(row, instant);
    if (!this.#mark(row, instant)) return false;
    for (const seat of closing) this.positions.convert(seat, instant);
    return true;
  }

  /** True if worst prices of a row may call the account. */
  #mayBeCalled(row: number): boolean {
    return this.account.isShared && this.positions.hasMargin && this.positions.mayBeCalledIn(row);
  }

  /** Like Decider.look(), after `advance`. */
  look(row: number): readonly Seat[] {
    return this.#decider.look(row, this.timeline.instant[row]!, this.#row.closing);
  }

  /** Lets the strategies decide at the marks of a row, and takes their orders over; false when nothing is left of the account. */
  decide(row: number): boolean {
    const instant = this.timeline.instant[row]!;
    const acted = this.#decider.decide(row, instant, this.#row.closing);
    if (!this.#settle(row, instant, acted)) return false;
    this.#row.end(row, acted);
    return true;
  }

  /** The opens of this row's candles, by their instants. */
  #open(row: number): void {
    const { opening } = this.#row;
    if (!opening.some(({ isDue }) => isDue)) return;
    const { isAligned, time } = this.timeline;
    if (isAligned) return this.#openAt(row, time[row]!, opening);
    const instantOf = (seat: Seat) => seat.openOf(seat.opened);
    const instants = [...new Set(opening.map(instantOf))].sort((a, b) => a - b);
    for (const instant of instants) this.#openAt(row, instant, opening.filter((seat) => instantOf(seat) === instant));
  }

  #openAt(row: number, instant: number, opening: readonly Seat[]): void {
    const due = opening.filter(({ isDue }) => isDue);
    if (due.length === 0) return;
    for (const seat of due) {
      this.positions.convert(seat, instant);
      seat.ledger.isMember = seat.isMemberAt(instant);
      seat.valueAt(seat.candles.open[seat.opened]!);
    }
    this.positions.sumAtOpens(row, instant, this.timeline.isAligned);
    this.#opens.fill(due);
  }

  /** The inside of the candles that close. */
  #close(row: number, instant: number): void {
    const { closing } = this.#row;
    const hasMargin = this.account.isShared && this.positions.hasMargin;
    if (hasMargin) this.#row.join(row, this.positions.held);
    let isSummed = hasMargin;
    if (hasMargin) this.positions.sumAtWorst(row, instant, closing);
    for (let n = 0; n < closing.length; n++) {
      const seat = closing[n]!;
      const { market, opened } = seat;
      if (seat.isDue || (hasMargin && seat.isHeld && this.positions.isCalled) || market.isDue(opened)) {
        if (!isSummed) this.positions.sumInside(row, instant, closing.slice(0, n));
        isSummed = true;
        this.positions.convertInside(seat, row, instant);
        if (!seat.isHeld) seat.valueAt(seat.candles.close[opened - 1] ?? seat.candles.open[opened]!);
        this.positions.bind(seat);
        market.inside(opened);
        this.positions.refresh(seat);
        this.#row.keep(seat, row);
      }
      seat.isDue = false;
      seat.i = opened;
      if (seat.isDelisted && opened === seat.last && seat.isHeld) {
        this.positions.convert(seat, instant);
        market.closeAll(opened, DELISTED);
        this.positions.refresh(seat);
      }
    }
  }

  /** Closes positions at the closes of a row, one after the other, until what is left is above its maintenance margin. */
  #callAtCloses(row: number, instant: number): void {
    const { positions } = this;
    for (const seat of positions.held) seat.see(row);
    positions.sumAtLastCloses(row, instant);
    for (const seat of [...positions.held]) {
      if (seat.closes.rowOf(seat.i) !== row || !positions.isCalled) continue;
      seat.market.closeAll(seat.i, MARGIN_CALL);
      positions.refresh(seat);
      this.#row.keep(seat, row);
      if (!this.#row.closing.includes(seat)) this.#row.closing.push(seat);
    }
  }

  /** Values the account at the marks of a row; false when nothing is left. */
  #mark(row: number, instant: number): boolean {
    const { account, positions } = this;
    positions.mark(row, instant);
    const { equity } = positions;
    account.equity = equity;
    this.equity[row] = equity;
    this.cash[row] = account.cash;
    this.net[row] = positions.value / equity;
    this.gross[row] = positions.gross / equity;
    if (!(equity > 0)) return this.#ruin(row);
    this.#onMark?.(row, positions);
    return true;
  }

  /** Takes over the decisions: market orders at the close if they are filled there, and the alarms of the next candles. */
  #settle(row: number, instant: number, acted: readonly Seat[]): boolean {
    let isFilled = false;
    for (const seat of acted) {
      const { market, opened } = seat;
      if (!market.isChanged) continue;
      const hasClosed = opened === seat.i && seat.closes.rowOf(opened) === row;
      if (hasClosed && this.#fillAtClose(seat)) {
        this.positions.refresh(seat);
        isFilled = true;
        market.setAlarms(opened);
      } else market.rearm(opened);
    }
    return !isFilled || this.#mark(row, instant);
  }

  #fillAtClose(seat: Seat): boolean {
    if (!seat.isHeld) seat.valueAt(seat.candles.close[seat.opened]!);
    this.positions.bind(seat);
    return seat.market.fillAtClose(seat.opened);
  }

  /** Ends the run after its last row. */
  finish(): void {
    const { held } = this.positions;
    if (this.#closesAtEnd && held.length > 0) {
      for (const seat of [...held]) {
        seat.market.closeAtEnd();
        this.positions.refresh(seat);
      }
      const row = this.equity.length - 1;
      this.#mark(row, this.timeline.instant[row]!);
    }
    this.positions.finish();
    for (const { ledger } of this.seats) ledger.finish();
  }

  /** Ends the run with equity 0: closes everything at its mark, and writes off the loss beyond the account. */
  #ruin(row: number): boolean {
    const { account, trades, positions } = this;
    if (Number.isNaN(account.equity)) throw new TypeError(`Cannot value the account in row ${row}: equity is NaN`);
    const before = trades.count;
    for (const seat of [...positions.held]) {
      seat.see(row);
      seat.market.closeAll(Math.max(seat.i, 0), MARGIN_CALL);
      this.positions.refresh(seat);
    }
    account.end(row, trades, Math.max(1, trades.count - before));
    for (const column of [this.equity, this.cash, this.net, this.gross]) column.fill(0, row);
    return false;
  }
}
