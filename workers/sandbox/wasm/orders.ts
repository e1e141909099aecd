import {
  BY_DEFAULT,
  newDraft,
  ORDER_TYPES,
  type OrderBook,
  type OrderDraft,
  REFUSED,
  SIZES_BY,
} from "../../../engine/strategy.ts";
import { ACTION, FLAG_REDUCE_ONLY, ORDER, RUN_ORDERS_MAX, TAG_BYTES_MAX } from "./abi.ts";

/** What a row of the order table asks for cannot be asked for; the message names field and value. */
export class SignalFault extends Error {
  override readonly name = "SignalFault";
}

/** The places of the fields that hold prices, distances and fractions, of which 0 is none. */
const PRICES = [
  ["limit_price", ORDER.limitPrice, "limitPrice"],
  ["stop_price", ORDER.stopPrice, "stopPrice"],
  ["stop_loss", ORDER.stopLoss, "stopLoss"],
  ["take_profit", ORDER.takeProfit, "takeProfit"],
  ["stop_loss_fraction", ORDER.stopLossFraction, "stopLossFraction"],
  ["take_profit_fraction", ORDER.takeProfitFraction, "takeProfitFraction"],
  ["trail_distance", ORDER.trailDistance, "trailDistance"],
  ["trail_fraction", ORDER.trailFraction, "trailFraction"],
] as const;

/** Does what the rows of a module's order table ask for. */
export class OrderTable {
  /** Numbers of orders that were working when last looked at, oldest first. */
  readonly working: number[] = [];
  readonly #draft: OrderDraft = newDraft();
  readonly #tracked: boolean;
  #buffer: ArrayBufferLike;
  #words: Int32Array;
  #doubles: Float64Array;
  #ordersCount = 0;

  /** @param tracked Whether `working` is to be kept. */
  constructor(memory: ArrayBufferLike, tracked: boolean) {
    this.#tracked = tracked;
    this.#buffer = memory;
    this.#words = new Int32Array(memory);
    this.#doubles = new Float64Array(memory);
  }

  /** Looks at the memory anew: growth detaches what was seen of it before. */
  attach(memory: ArrayBufferLike): void {
    this.#buffer = memory;
    this.#words = new Int32Array(memory);
    this.#doubles = new Float64Array(memory);
  }

  /**
   * Does what the row at an address asks for.
   *
   * @returns The order's number, REFUSED, or for `cancel` and `protect` 1 or 0.
   * @throws {SignalFault} When the row is not a meaningful one, whatever the state of the account.
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
        const stopLoss = this.#price(row, "stop_loss", ORDER.stopLoss);
        return Number(book.protect(target, stopLoss, this.#price(row, "take_profit", ORDER.takeProfit)));
      }
      default:
        throw new SignalFault(`action is ${action}, and none has this number`);
    }
  }

  /** Drops from `working` what no longer is. */
  sweep(book: OrderBook): void {
    const { working } = this;
    let kept = 0;
    for (let n = 0; n < working.length; n++) {
      if (book.isWorking(working[n]!)) working[kept++] = working[n]!;
    }
    working.length = kept;
  }

  #keep(order: number): number {
    if (++this.#ordersCount > RUN_ORDERS_MAX) throw new SignalFault(`a run has at most ${RUN_ORDERS_MAX} orders`);
    if (this.#tracked && order !== REFUSED) this.working.push(order);
    return order;
  }

  #readDraft(row: number): OrderDraft {
    const draft = this.#draft;
    draft.side = this.#word(row, ORDER.side);
    if (draft.side !== 1 && draft.side !== -1) throw new SignalFault(`side is ${draft.side}, and it is 1 or -1`);
    draft.type = this.#index(row, "type", ORDER.type, ORDER_TYPES);
    draft.sizeBy = this.#index(row, "size_by", ORDER.sizeBy, SIZES_BY);
    draft.size = draft.sizeBy === BY_DEFAULT ? NaN : this.#double(row, "size", ORDER.size);
    for (const [name, offset, key] of PRICES) draft[key] = this.#price(row, name, offset);
    draft.candlesMax = this.#word(row, ORDER.candlesMax) >>> 0;
    draft.timeStopCandles = this.#word(row, ORDER.timeStopCandles) >>> 0;
    const flags = this.#word(row, ORDER.flags);
    if ((flags & ~FLAG_REDUCE_ONLY) !== 0) {
      throw new SignalFault(`flags is ${flags >>> 0}, and only bit 0 has a meaning`);
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
    throw new SignalFault(`${name} is ${value}, and it is 0 to ${list.length - 1}`);
  }

  #double(row: number, name: string, offset: number): number {
    const value = this.#doubles[(row + offset) >>> 3]!;
    if (Number.isFinite(value)) return value;
    throw new SignalFault(`${name} is ${value}`);
  }

  /** Both zeros are none. */
  #price(row: number, name: string, offset: number): number {
    const value = this.#double(row, name, offset);
    return value === 0 ? NaN : value;
  }

  #fraction(row: number): number {
    const value = this.#double(row, "size", ORDER.size);
    if (value > 0 && value <= 1) return value;
    throw new SignalFault(`size is ${value}, and the fraction to close is above 0 and at most 1`);
  }

  #tag(row: number): string | null {
    const length = this.#word(row, ORDER.tagBytes) >>> 0;
    if (length === 0) return null;
    if (length > TAG_BYTES_MAX) throw new SignalFault(`tag_len is ${length}, and it is at most ${TAG_BYTES_MAX}`);
    const pointer = this.#word(row, ORDER.tagPointer) >>> 0;
    if (pointer + length > this.#buffer.byteLength) throw new SignalFault(`tag_ptr is ${pointer}, outside the memory`);
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(this.#buffer, pointer, length));
    } catch {
      throw new SignalFault("the tag is not UTF-8");
    }
  }
}
