import type { Exits } from "./exits.ts";
import { Fill, FROM_ABOVE, FROM_BELOW } from "./fill.ts";
import type { Ledger } from "./ledger.ts";
import type { OpenTrade } from "./open_trade.ts";
import type { OrderFills } from "./order_fills.ts";
import { MARGIN_CALL, STOP_LOSS, TAKE_PROFIT, TRAILING_STOP } from "./trade_columns.ts";
import type { WorkingOrder } from "./working_order.ts";

/** The fills of one step of a walk (walk.ts). `kind` is AT_OPEN, FROM_BELOW or FROM_ABOVE (fill.ts). */
export class WalkFills {
  readonly #ledger: Ledger;
  readonly #exits: Exits;
  readonly #orderFills: OrderFills;
  readonly #fill = new Fill();

  constructor(ledger: Ledger, exits: Exits, orderFills: OrderFills) {
    this.#ledger = ledger;
    this.#exits = exits;
    this.#orderFills = orderFills;
  }

  /** Starts a step of the walk. @param index The candle to which fills belong. */
  begin(index: number, step: number): void {
    this.#fill.index = index;
    this.#fill.step = step;
  }

  /** Fills an order. Returns the trade that it opens, or null. @param path See fill.ts. */
  fillOrder(order: WorkingOrder, price: number, kind: number, path: number): OpenTrade | null {
    const fill = this.#fill;
    const { open, opened } = this.#ledger;
    fill.at(fill.index, kind, price, order.slips);
    fill.path = path;
    this.#orderFills.fill(order, fill);
    return this.#ledger.opened > opened ? open.at(open.count - 1) : null;
  }

  /** Closes a trade at its stop; true when the trade is gone. Units that volume does not allow are closed at the next opens. */
  exitAtStop(trade: OpenTrade, price: number, kind: number): boolean {
    const { quantity } = trade;
    const reason = trade.stopOn(this.#ledger.side) === trade.stopLoss ? STOP_LOSS : TRAILING_STOP;
    const fill = this.#fill;
    fill.at(fill.index, kind, price, true);
    this.#exits.exit(fill, trade, quantity, reason);
    if (fill.units === quantity) return true;
    trade.exiting = reason;
    // The next open needs a look, even when nothing could be closed.
    this.#ledger.isChanged = true;
    return false;
  }

  exitAtTarget(trade: OpenTrade, price: number, kind: number): void {
    const fill = this.#fill;
    fill.at(fill.index, kind, price, false);
    this.#exits.exit(fill, trade, trade.quantity, TAKE_PROFIT);
  }

  /** Closes everything for a margin call. */
  liquidate(price: number): void {
    this.#fill.force(this.#fill.index, this.#ledger.side > 0 ? FROM_ABOVE : FROM_BELOW, price);
    this.#exits.exitOldest(this.#fill, Infinity, MARGIN_CALL);
  }
}
