import type { Rules } from "./rules_of_run.ts";
import { MAKES_LIMIT } from "./rules/orders/order_type.ts";
import { TYPE_RULES } from "./rules/orders/order_types.ts";
import { opensBeyondLimit, opensBeyondStop, reachesLimit, reachesStop } from "./rules/triggers.ts";
import { BY_DEFAULT, limitPriceOf, MARKET, type OrderDraft, stopPriceOf } from "./strategy.ts";

/** Values of `closes`: all open trades, or those that the order's side reduces. */
export const ALL_TRADES = -1;
export const ANY_TRADES = -2;

/**
 * A working order. Prices, distances and fractions are NaN where there is none. Fields that may hold a fraction start as NaN
 * (see open_trade.ts).
 */
export class WorkingOrder {
  number = 0;
  side = 1;
  /** Index into ORDER_TYPES; a stop-limit order whose stop was reached has become a limit order. */
  type = MARKET;
  sizeBy = BY_DEFAULT;
  size = NaN;
  limitPrice = NaN;
  stopPrice = NaN;
  /** The price that it waits for: its stop, or its limit. */
  level = NaN;
  waitsForStop = false;
  /** The first and the last candle in which it works. */
  from = 0;
  until = NaN;
  /** True if it may only make the position smaller. */
  reduces = false;
  /** True if it was placed as an entry, and not as an order that only reduces. */
  isEntry = true;
  /** True if it is an entry that volume has filled only in part, or not at all. */
  isHeldBack = false;
  /** Number of the trade that it closes, ALL_TRADES or ANY_TRADES. */
  closes = ANY_TRADES;
  stopLoss = NaN;
  takeProfit = NaN;
  stopLossFraction = NaN;
  takeProfitFraction = NaN;
  trailDistance = NaN;
  trailFraction = NaN;
  timeStopCandles = 0;
  /** Units that are still to be filled; NaN until it is sized. */
  units = NaN;
  /** Index of the candle in which it was sized. */
  sizedAt = -1;

  /** Fills it in from a draft that was placed at the close of candle `index`. */
  begin(number: number, draft: OrderDraft, index: number, rules: Rules, reduces: boolean): void {
    const { type } = draft;
    this.number = number;
    this.side = draft.side;
    this.reduces = reduces;
    this.isEntry = !draft.reduceOnly;
    this.isHeldBack = false;
    this.sizeBy = draft.sizeBy;
    this.size = draft.sizeBy === BY_DEFAULT ? rules.execution.sizing.value : draft.size;
    this.limitPrice = limitPriceOf(draft);
    this.stopPrice = stopPriceOf(draft);
    this.become(type);
    const { delay = 0 } = rules.execution;
    this.from = (type === MARKET && rules.fill.isAtClose ? index : index + 1) + delay;
    this.until = draft.candlesMax > 0 && type !== MARKET ? index + delay + draft.candlesMax : Infinity;
    this.closes = ANY_TRADES;
    this.stopLoss = draft.stopLoss;
    this.takeProfit = draft.takeProfit;
    this.stopLossFraction = draft.stopLossFraction;
    this.takeProfitFraction = draft.takeProfitFraction;
    this.trailDistance = draft.trailDistance;
    this.trailFraction = draft.trailFraction;
    this.timeStopCandles = draft.timeStopCandles;
    this.units = NaN;
    this.sizedAt = -1;
  }

  /** Gives it the rules of a type. @param type Index into ORDER_TYPES. */
  become(type: number): void {
    this.type = type;
    this.waitsForStop = TYPE_RULES[type]!.namesStop;
    this.level = this.waitsForStop ? this.stopPrice : this.limitPrice;
  }

  /** 1 if prices rise to its level, -1 if they fall to it. */
  get direction(): number {
    return this.waitsForStop ? this.side : -this.side;
  }

  /** True if an open has passed its level. @param penetrate `limitFill`. */
  isPassedBy(open: number, penetrate: boolean): boolean {
    const { side, level } = this;
    return this.waitsForStop ? opensBeyondStop(side, level, open) : opensBeyondLimit(side, level, open, penetrate);
  }

  /** True if a candle gets to its level. @param penetrate `limitFill`. */
  isReachedBy(high: number, low: number, penetrate: boolean): boolean {
    const { side, level } = this;
    return this.waitsForStop ? reachesStop(side, level, high, low) : reachesLimit(side, level, high, low, penetrate);
  }

  /** True if a price that has reached it makes it a limit order instead of filling it. */
  makesLimitAt(price: number): boolean {
    return TYPE_RULES[this.type]!.effectAt(price, this) === MAKES_LIMIT;
  }

  /** True if it slips. Limit orders name their price and do not. */
  get slips(): boolean {
    return !TYPE_RULES[this.type]!.namesLimit;
  }
}
