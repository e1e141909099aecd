import {
  BY_DEFAULT,
  newDraft,
  ORDER_TYPES,
  type OrderBook,
  type OrderDraft,
  REFUSED,
  SIZES_BY,
} from "../../../engine/strategy.ts";
import {
  ACTION,
  FLAG_REDUCE_ONLY,
  KEEP_STOP_LOSS,
  KEEP_TAKE_PROFIT,
  ORDER,
  RUN_ORDERS_MAX,
  RUN_TAGS_MAX,
  TAG_BYTES_MAX,
} from "../contracts/abi.ts";

/** A row of the order table is invalid; the message names the field and its value. */
export class SignalFault extends Error {
  override readonly name = "SignalFault";
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Carries out the rows of a module's order table. */
export class OrderTable {
  /** Numbers of the orders that worked at the last sweep, oldest first. */
  readonly working: number[] = [];
  readonly #draft: OrderDraft = newDraft();
  readonly #tracked: boolean;
  #buffer: ArrayBufferLike;
  #words: Int32Array;
  #doubles: Float64Array;
  #ordersCount = 0;
  /** Every tag so far: orders with equal tags share one text. */
  readonly #tags = new Map<string, string>();
  readonly #ordersMax: number;
  readonly #tagsMax: number;

  /** @param tracked Keeps the list `working`. @param markets Those of the run, among which its orders and tags are divided. */
  constructor(memory: ArrayBufferLike, tracked: boolean, markets = 1) {
    this.#ordersMax = Math.floor(RUN_ORDERS_MAX / markets);
    this.#tagsMax = Math.floor(RUN_TAGS_MAX / markets);
    this.#tracked = tracked;
    this.#buffer = memory;
    this.#words = new Int32Array(memory);
    this.#doubles = new Float64Array(memory);
  }

  /** Renews the views of the memory: growth detaches the old ones. */
  attach(memory: ArrayBufferLike): void {
    this.#buffer = memory;
    this.#words = new Int32Array(memory);
    this.#doubles = new Float64Array(memory);
  }

  /**
   * Carries out the row at an address.
   *
   * @returns The order's number, REFUSED, or for `cancel` and `protect` 1 or 0.
   * @throws {SignalFault} When the row is invalid in any state of the account.
   */
  perform(row: number, book: OrderBook): number {
    const action = this.#word(row, ORDER.action);
    const target = this.#word(row, ORDER.target);
    switch (action) {
      case ACTION.place:
        return this.#keep(book.place(this.#readDraft(row)));
      case ACTION.replace:
        return this.#keep(book.replace(target, this.#readDraft(row)));
      case ACTION.close:
        return this.#keep(book.close(this.#fraction(row), this.#tag(row)));
      case ACTION.closeTrade: {
        const fraction = this.#fraction(row);
        const tag = this.#tag(row);
        return book.isOpen(target) ? this.#keep(book.closeTrade(target, fraction, tag)) : REFUSED;
      }
      case ACTION.cancel:
        return Number(book.cancel(target));
      case ACTION.cancelAll:
        book.cancelAll();
        return 0;
      case ACTION.protect: {
        const flags = this.#word(row, ORDER.flags);
        if ((flags & ~(KEEP_STOP_LOSS | KEEP_TAKE_PROFIT)) !== 0) {
          throw new SignalFault(`flags is ${flags >>> 0}: only bits 0 and 1 have a meaning for protect`);
        }
        const stopLoss = flags & KEEP_STOP_LOSS ? null : this.#price(row, "stop_loss", ORDER.stopLoss);
        const takeProfit = flags & KEEP_TAKE_PROFIT ? null : this.#price(row, "take_profit", ORDER.takeProfit);
        return Number(book.protect(target, stopLoss, takeProfit));
      }
      default:
        throw new SignalFault(`action is ${action}: it must be 1 to ${ACTION.protect}`);
    }
  }

  /** Drops orders that no longer work from `working`. */
  sweep(book: OrderBook): void {
    const { working } = this;
    if (working.length === 0) return;
    let kept = 0;
    for (let n = 0; n < working.length; n++) {
      if (book.isWorking(working[n]!)) working[kept++] = working[n]!;
    }
    // Setting the length takes longer.
    while (working.length > kept) working.pop();
  }

  #keep(order: number): number {
    if (++this.#ordersCount > this.#ordersMax) {
      throw new SignalFault(`a run can have at most ${this.#ordersMax} orders${this.#inMarket()}`);
    }
    if (this.#tracked && order !== REFUSED) this.working.push(order);
    return order;
  }

  #inMarket(): string {
    return this.#ordersMax < RUN_ORDERS_MAX ? " in each of its markets" : "";
  }

  #readDraft(row: number): OrderDraft {
    const draft = this.#draft;
    draft.side = this.#word(row, ORDER.side);
    if (draft.side !== 1 && draft.side !== -1) throw new SignalFault(`side is ${draft.side}: it must be 1 or -1`);
    draft.type = this.#index(row, "type", ORDER.type, ORDER_TYPES);
    draft.sizeBy = this.#index(row, "size_by", ORDER.sizeBy, SIZES_BY);
    draft.size = draft.sizeBy === BY_DEFAULT ? NaN : this.#double(row, "size", ORDER.size);
    draft.limitPrice = this.#price(row, "limit_price", ORDER.limitPrice);
    draft.stopPrice = this.#price(row, "stop_price", ORDER.stopPrice);
    draft.stopLoss = this.#price(row, "stop_loss", ORDER.stopLoss);
    draft.takeProfit = this.#price(row, "take_profit", ORDER.takeProfit);
    draft.stopLossFraction = this.#price(row, "stop_loss_fraction", ORDER.stopLossFraction);
    draft.takeProfitFraction = this.#price(row, "take_profit_fraction", ORDER.takeProfitFraction);
    draft.trailDistance = this.#price(row, "trail_distance", ORDER.trailDistance);
    draft.trailFraction = this.#price(row, "trail_fraction", ORDER.trailFraction);
    draft.candlesMax = this.#word(row, ORDER.candlesMax) >>> 0;
    draft.timeStopCandles = this.#word(row, ORDER.timeStopCandles) >>> 0;
    const flags = this.#word(row, ORDER.flags);
    if ((flags & ~FLAG_REDUCE_ONLY) !== 0) {
      throw new SignalFault(`flags is ${flags >>> 0}: only bit 0 has a meaning`);
    }
    draft.reduceOnly = flags === FLAG_REDUCE_ONLY;
    draft.tag = this.#tag(row);
    return draft;
  }

  #word(row: number, offset: number): number {
    return this.#words[(row + offset) >>> 2]!;
  }

  #index(row: number, name: string, offset: number, list: readonly string[]): number {
    const value = this.#word(row, offset);
    if (value >= 0 && value < list.length) return value;
    throw new SignalFault(`${name} is ${value}: it must be 0 to ${list.length - 1}`);
  }

  #double(row: number, name: string, offset: number): number {
    const value = this.#doubles[(row + offset) >>> 3]!;
    if (Number.isFinite(value)) return value;
    throw new SignalFault(`${name} is ${value}`);
  }

  /** NaN, which means none, for 0 and -0. */
  #price(row: number, name: string, offset: number): number {
    const value = this.#double(row, name, offset);
    return value === 0 ? NaN : value;
  }

  #fraction(row: number): number {
    const value = this.#double(row, "size", ORDER.size);
    if (value > 0 && value <= 1) return value;
    throw new SignalFault(`size is ${value}: the fraction to close must be above 0 and at most 1`);
  }

  #tag(row: number): string | null {
    const length = this.#word(row, ORDER.tagBytes) >>> 0;
    if (length === 0) return null;
    if (length > TAG_BYTES_MAX) throw new SignalFault(`tag_len is ${length}: it must be at most ${TAG_BYTES_MAX}`);
    const pointer = this.#word(row, ORDER.tagPointer) >>> 0;
    if (pointer + length > this.#buffer.byteLength) throw new SignalFault(`tag_ptr is ${pointer}, outside the memory`);
    let tag: string;
    try {
      tag = UTF8.decode(new Uint8Array(this.#buffer, pointer, length));
    } catch {
      throw new SignalFault("the tag is not UTF-8");
    }
    const known = this.#tags.get(tag);
    if (known !== undefined) return known;
    if (this.#tags.size === this.#tagsMax) {
      throw new SignalFault(`a run can have at most ${this.#tagsMax} different tags${this.#inMarket()}`);
    }
    this.#tags.set(tag, tag);
    return tag;
  }
}
