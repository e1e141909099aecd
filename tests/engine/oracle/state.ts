import type { Candles } from "../../../engine/candles.ts";
import type { Execution } from "../../../engine/execution.ts";
import type { OrderReason, OrderStatus } from "../../../engine/order_columns.ts";
import type { OrderDraft } from "../../../engine/strategy.ts";
import type { ExitReason } from "../../../engine/trade_columns.ts";

/** +1: long, or a buy, or upwards; -1: short, or a sale, or downwards. */
export type Sign = 1 | -1;

/** How a price was reached: at the open or close of a candle, or inside it from below or from above. */
export type Reached = "open" | "close" | "from_below" | "from_above";

/** The four prices of a step: a candle's own, or those of a finer candle inside it. */
export interface Bar {
  /** The candle to which fills belong. */
  readonly index: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  /** True if `open` is the open of the candle itself. */
  readonly isFirst: boolean;
}

/** An order from its placement to its end. */
export interface Order {
  readonly number: number;
  readonly placedAt: number;
  readonly draft: OrderDraft;
  readonly side: Sign;
  /** A stop becomes "market" for its unfilled rest, a stop-limit becomes "limit" when its stop is reached. */
  waitsAs: "market" | "limit" | "stop" | "stop_limit";
  readonly reduces: boolean;
  /** True if a candle's volume did not allow all of it. */
  isHeldBack: boolean;
  /** The trades it closes: each open one, the one of this number, or (null) those that its side reduces. */
  closes: "all" | number | null;
  /** First and last candle in which it works. */
  from: number;
  until: number;
  /** Lots still to be filled; null until the order was sized, or where it closes a fraction. */
  lotsLeft: number | null;
  /** The candle at whose prices it was sized. */
  sizedAt: number | null;
  /** Units that were requested or chosen; NaN: never sized. */
  quantity: number;
  filledUnits: number;
  filledValue: number;
  filledAt: number | null;
  status: OrderStatus;
  reason: OrderReason;
}

/** An open trade. */
export interface Trade {
  readonly number: number;
  readonly order: Order;
  readonly side: Sign;
  lots: number;
  readonly entryIndex: number;
  readonly reached: Reached;
  /** The bar inside which it was opened; null: at an open before all else, or at a close. */
  readonly enteredIn: Bar | null;
  /** True if its stop and target may be filled in the bar of its entry. */
  readonly entryBarExits: "both" | "target" | "none";
  /** The market's price at the entry. */
  readonly entryLevel: number;
  /** Entry price with spread and slippage; the mean of several fills. */
  entryPrice: number;
  fees: number;
  financing: number;
  stopLoss: number;
  takeProfit: number;
  readonly trailDistance: number;
  readonly trailFraction: number;
  trailBest: number;
  trailStop: number;
  /** The candle at whose open it is closed. */
  readonly timeStopAt: number;
  /** An exit that volume filled only in part: the rest is closed at the next opens. */
  exiting: OwnExit | null;
  isAmbiguous: boolean;
}

/** Why a trade ends without an order of its own. */
export type OwnExit = Exclude<ExitReason, "signal">;

/** A closed trade or closed part of one, or (exitReason null) a trade that is open at the end. */
export interface TradeRow {
  readonly number: number;
  readonly side: Sign;
  readonly quantity: number;
  readonly entryIndex: number;
  readonly entryPrice: number;
  readonly exitIndex: number;
  readonly exitPrice: number;
  readonly fees: number;
  pnl: number;
  readonly mae: number;
  readonly mfe: number;
  readonly exitReason: ExitReason | null;
  readonly isAmbiguous: boolean;
  /** Places in the list of orders; -1: no order closed it. */
  readonly entryOrder: number;
  readonly exitOrder: number;
  readonly tag: string | null;
  readonly exitTag: string | null;
}

/** The state of one simulation. */
export interface State {
  readonly candles: Candles;
  readonly finer: Candles | null;
  readonly timeframeMs: number | null;
  readonly execution: Execution;
  readonly initialBalance: number;
  /** The candle that is being simulated. */
  /** Where the run begins. */
  readonly firstIndex: number;
  index: number;
  cash: number;
  /** Every order in order of placement; those that work are also in `working`. */
  readonly orders: Order[];
  working: Order[];
  /** Open trades, oldest first, all on one side. */
  trades: Trade[];
  tradesOpened: number;
  /** In order of exit. */
  readonly closed: TradeRow[];
  feesPaid: number;
  tradedValue: number;
  /** Money that cash has earned. */
  interest: number;
  /** Money that the broker bore when the account came to nothing. */
  lossBeyond: number;
  /** Units that market and stop orders took from the volume of candle `volumeIndex`. */
  volumeTaken: number;
  volumeIndex: number;
  /** True if fills are forced: volume does not limit them. */
  isForced: boolean;
  isRuined: boolean;
  unreplayedCandles: number;
}

/** The side of the open trades; 0: flat. */
export function positionSide(state: State): Sign | 0 {
  return state.trades[0]?.side ?? 0;
}

export function positionLots(state: State): number {
  return state.trades.reduce((lots, trade) => lots + trade.lots, 0);
}

/** Units held, negative when short. */
export function position(state: State): number {
  return positionSide(state) * unitsOf(state, positionLots(state));
}

/** Equity at this price. */
export function equityAt(state: State, price: number): number {
  return state.cash + position(state) * price;
}

/** Units of a number of lots: a lot of 0.1 divides a unit by ten, so that three of them are 0.3 and not 0.30000000000000004. */
export function unitsOf(state: State, lots: number): number {
  const step = state.execution.quantityStep;
  const lotsPerUnit = Math.round(1 / step);
  return lotsPerUnit >= 1 && Math.abs(lotsPerUnit * step - 1) < 1e-12 ? lots / lotsPerUnit : lots * step;
}

/** Whole lots in a quantity; a rounding error below a whole number counts as that number. */
export function lotsIn(state: State, units: number): number {
  return Math.floor(units / state.execution.quantityStep * (1 + 2 ** -50));
}
