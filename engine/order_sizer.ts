import type { Candles } from "./candles.ts";
import type { Fill } from "./fill.ts";
import type { FillPricing } from "./fill_pricing.ts";
import type { Ledger } from "./ledger.ts";
import { NO_BUYING_POWER, NO_REASON, NO_RISK, TOO_SMALL, UNUSABLE } from "./order_columns.ts";
import type { OrderLog } from "./order_log.ts";
import type { Rules } from "./rules_of_run.ts";
import { SizingInput } from "./rules/sizing/sizing_model.ts";
import { SIZING_MODELS } from "./rules/sizing/sizing_models.ts";
import { BY_CASH, BY_RISK_FRACTION, BY_UNITS, SIZES_BY } from "./strategy.ts";
import type { WorkingOrder } from "./working_order.ts";

/** Relative tolerance of buying power: rounding may make a sum of decimals this much too dear. */
const BUYING_POWER_ROOM = 1 + 1e-12;

/** By index into SIZES_BY. An order that is sized names its own: the book has resolved `default`. */
const MODELS = SIZES_BY.map((name) => SIZING_MODELS[name === "default" ? "equity_fraction" : name]);

/** The rules, prices and state that a size depends on. */
interface SizerParts {
  readonly rules: Rules;
  readonly candles: Candles;
  readonly pricing: FillPricing;
  readonly ledger: Ledger;
  readonly orders: OrderLog;
}

/** Sizes orders by the account as it stands, and checks them against its buying power. */
export class OrderSizer {
  readonly #rules: Rules;
  readonly #candles: Candles;
  readonly #pricing: FillPricing;
  readonly #ledger: Ledger;
  readonly #orders: OrderLog;
  readonly #input = new SizingInput();

  constructor({ rules, candles, pricing, ledger, orders }: SizerParts) {
    this.#rules = rules;
    this.#candles = candles;
    this.#pricing = pricing;
    this.#ledger = ledger;
    this.#orders = orders;
  }

  /** Sizes an order that is about to be filled, unless it was sized before. */
  sizeAtFill(order: WorkingOrder, fill: Fill): void {
    if (!Number.isNaN(order.units)) return;
    const ledger = this.#ledger;
    const input = this.#input;
    const mark = this.#markOf(fill);
    input.equity = ledger.cash + ledger.quantity * mark;
    input.freeMargin = this.#rules.margin.freeOf(input.equity, this.#tiedUp(order), mark, ledger);
    input.raw = fill.raw;
    this.#size(order, fill.index);
  }

  /**
   * Sizes an order at the close of candle `i`, which decided it (sizingPrice `signal_close`), as if it were filled there
   * with its costs, after closing what it is going to close. Buying power is checked here and not again at the fill.
   *
   * @returns Index into ORDER_REASONS: why it is refused, or NO_REASON.
   */
  sizeAtSignal(order: WorkingOrder, i: number): number {
    const ledger = this.#ledger;
    const input = this.#input;
    const { exclusive, margin } = this.#rules;
    const close = this.#candles.close[i]!;
    const equity = ledger.cash + ledger.quantity * close;
    const isOpposite = exclusive.replacesOpposite && ledger.side === -order.side;
    const closesAll = exclusive.replacesAll || isOpposite;
    input.equity = equity;
    input.freeMargin = margin.freeOf(equity, closesAll ? 0 : this.#tiedUp(order), close, ledger);
    input.raw = close;
    this.#size(order, i);
    const refusal = refusalOf(order.units);
    if (refusal !== NO_REASON) return refusal;
    const fits = isSizedToFit(order, i) || this.#opensWhatFits(order, closesAll);
    return fits ? NO_REASON : NO_BUYING_POWER;
  }

  /**
   * True if value and fee of a fill fit into the remaining buying power. An order that was sized to fit is not checked
   * again in the same candle; its unfilled rest is, since later candles have other prices.
   */
  isAffordable(order: WorkingOrder, fill: Fill): boolean {
    if (isSizedToFit(order, fill.index)) return true;
    const { cash, quantity } = this.#ledger;
    const mark = this.#markOf(fill);
    const free = this.#rules.margin.freeOf(cash + quantity * mark, quantity, mark, this.#ledger);
    return this.#fitsInto(fill.units, fill.price, free);
  }

  /** Signed units whose margin an order cannot use: those that stay open. */
  #tiedUp(order: WorkingOrder): number {
    const ledger = this.#ledger;
    // The library (fractionOf `free_margin`) counts netted units as bound, too.
    const nets = ledger.side === -order.side && this.#rules.execution.fractionOf === "equity";
    return order.reduces || nets ? 0 : ledger.quantity;
  }

  /** True if the units that an order opens beyond those that it nets fit into the buying power at its signal's close. */
  #opensWhatFits({ side, units }: WorkingOrder, closesAll: boolean): boolean {
    const ledger = this.#ledger;
    const { price, freeMargin: free, equity } = this.#input;
    const nets = !closesAll && ledger.side === -side;
    if (!nets) return this.#fitsInto(units, price, free);
    const opened = units - Math.abs(ledger.quantity);
    return opened <= 0 || this.#fitsInto(opened, price, this.#rules.margin.freeOf(equity, 0, price, ledger));
  }

  /** Sizes an order by the account and the market's price that the sizing input holds. */
  #size(order: WorkingOrder, i: number): void {
    const input = this.#input;
    input.price = this.#pricing.sizingPrice(input.raw, order.side, order.slips);
    input.reduces = order.reduces;
    input.size = order.size;
    input.riskPerUnit = order.sizeBy === BY_RISK_FRACTION ? riskPerUnit(order, input.price) : NaN;
    order.units = MODELS[order.sizeBy]!(input, this.#rules);
    // Units that the strategy names may exceed the position; a computed size may not.
    if (order.reduces && order.sizeBy !== BY_UNITS) {
      order.units = Math.min(order.units, Math.abs(this.#ledger.quantity));
    }
    order.sizedAt = i;
    if (order.units < Infinity) this.#orders.size(order);
  }

  /** The price that values the open trades when an order is filled. */
  #markOf(fill: Fill): number {
    return this.#rules.execution.sizingMark === "close" ? this.#candles.close[fill.index]! : fill.raw;
  }

  #fitsInto(units: number, price: number, free: number): boolean {
    const { commission, margin } = this.#rules;
    const cost = units * price + commission.feeOf(units, price);
    return cost <= margin.buyingPowerOf(free) * BUYING_POWER_ROOM;
  }
}

/** Why no order of `units` can be filled; NO_REASON where one can. Infinity: more lots than a number can count. */
export function refusalOf(units: number): number {
  if (Number.isNaN(units)) return NO_RISK;
  if (units === Infinity) return UNUSABLE;
  return units > 0 ? NO_REASON : TOO_SMALL;
}

/** Distance from the entry price to the order's stop loss, or else to its trailing stop; NaN without a stop that loses. */
function riskPerUnit(order: WorkingOrder, price: number): number {
  const distance = order.side * (price - order.stopLoss);
  if (!Number.isNaN(distance)) return distance > 0 ? distance : NaN;
  return [price * order.stopLossFraction, order.trailDistance, price * order.trailFraction].find((one) => one > 0) ??
    NaN;
}

function isSizedToFit(order: WorkingOrder, i: number): boolean {
  return order.sizedAt === i && order.sizeBy !== BY_UNITS && order.sizeBy !== BY_CASH;
}
