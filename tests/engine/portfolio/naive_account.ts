/** The money and the positions of the naive portfolio (naive.ts). */
import type { NaiveMarket, NaiveRules, NaiveTrade } from "./naive_types.ts";

interface Open {
  id: string;
  side: number;
  units: number;
  price: number;
  rate: number;
  fees: number;
  stop: number;
  target: number;
  at: number;
  number: number;
}

export class NaiveAccount {
  cash: number;
  readonly open = new Map<string, Open[]>();
  readonly trades: (NaiveTrade & { number: number })[] = [];
  /** When the candles began that close now, while their insides are walked: later rates are not known there. */
  inside: Map<string, number> | null = null;
  #number = 0;

  constructor(readonly markets: readonly NaiveMarket[], readonly rules: NaiveRules) {
    this.cash = rules.balance;
    for (const { id } of markets) this.open.set(id, []);
  }

  quantityOf(id: string): number {
    return this.open.get(id)!.reduce((sum, { side, units }) => sum + side * units, 0);
  }

  rateAt({ id, rates }: NaiveMarket, instant: number): number {
    if (rates === null) return 1;
    const known = this.inside === null ? instant : this.inside.get(id) ?? instant - 1;
    return rates.filter(([from]) => from <= known).at(-1)?.[1] ?? rates[0]![1];
  }

  /** The last close at an instant; before the first one, the first open. */
  lastClose({ candles }: NaiveMarket, instant: number): number | null {
    const closed = candles.filter(({ closes }) => closes <= instant).at(-1);
    return closed?.close ?? candles.find(({ opens }) => opens <= instant)?.open ?? null;
  }

  isMember({ members }: NaiveMarket, instant: number): boolean {
    return members === null || members.some(([from, until]) => from <= instant && instant < until);
  }

  /** Cash and positions, by the prices that `priceOf` gives or else by the last closes. */
  worth(instant: number, priceOf: (market: NaiveMarket) => number | null): number {
    return this.cash + this.markets.reduce((sum, market) => sum + this.value(market, instant, priceOf(market)), 0);
  }

  value(market: NaiveMarket, instant: number, price: number | null): number {
    const quantity = this.quantityOf(market.id);
    if (quantity === 0) return 0;
    return quantity * (price ?? this.lastClose(market, instant)!) * this.rateAt(market, instant);
  }

  gross(instant: number, priceOf: (market: NaiveMarket) => number | null): number {
    return this.markets.reduce((sum, market) => sum + Math.abs(this.value(market, instant, priceOf(market))), 0);
  }

  round(units: number): number {
    return Math.floor(units / this.rules.lot * (1 + 2 ** -50)) * this.rules.lot;
  }

  fillPrice(raw: number, side: number, slips: boolean): number {
    const slipped = slips ? raw * (1 + side * this.rules.bps / 10_000) : raw;
    return slipped * (1 + side * this.rules.spread / 2);
  }

  fee(units: number, price: number): number {
    return units * price * this.rules.rate + this.rules.fixed;
  }

  affordable(money: number, price: number): number {
    return this.round(Math.max(0, (money - this.rules.fixed) / (price * (1 + this.rules.rate))));
  }

  enter(
    market: NaiveMarket,
    instant: number,
    at: number,
    units: number,
    side: number,
    raw: number,
    guards: { stop: number; target: number },
  ): void {
    const price = this.fillPrice(raw, side, true);
    const fee = this.fee(units, price);
    const rate = this.rateAt(market, instant);
    this.cash -= (side * units * price + fee) * rate;
    this.open.get(market.id)!.push({
      id: market.id,
      side,
      units,
      price,
      rate,
      fees: fee * rate,
      ...guards,
      at,
      number: this.#number++,
    });
  }

  exit(
    market: NaiveMarket,
    instant: number,
    at: number,
    trade: Open,
    units: number,
    raw: number,
    slips: boolean,
    reason: string,
  ): void {
    const price = this.fillPrice(raw, -trade.side, slips);
    const fee = this.fee(units, price);
    const rate = this.rateAt(market, instant);
    this.cash += (trade.side * units * price - fee) * rate;
    this.list(trade, units, price, fee, at, reason, rate);
    const kept = 1 - units / trade.units;
    trade.fees *= kept;
    trade.units = Math.round((trade.units - units) / this.rules.lot) * this.rules.lot;
    if (trade.units <= 0 || kept <= 0) {
      this.open.set(
        market.id,
        this.open.get(market.id)!.filter((other) => other !== trade),
      );
    }
  }

  list(
    trade: Open,
    units: number,
    price: number,
    fee: number,
    at: number | null,
    reason: string | null,
    rate: number,
  ): void {
    const share = units / trade.units;
    const pnl = trade.side * units * (price * rate - trade.price * trade.rate) - trade.fees * share - fee * rate;
    const { id, side, number } = trade;
    this.trades.push({
      id,
      side,
      quantity: units,
      entryAt: trade.at,
      entryPrice: trade.price,
      exitAt: at,
      exitPrice: at === null ? null : price,
      pnl,
      reason,
      number,
    });
  }

  exitOldest(market: NaiveMarket, instant: number, at: number, units: number, raw: number, reason: string): void {
    let left = units;
    for (const trade of [...this.open.get(market.id)!]) {
      const part = Math.min(left, trade.units);
      if (part > this.rules.lot / 2) this.exit(market, instant, at, trade, part, raw, true, reason);
      left -= part;
    }
  }
}
