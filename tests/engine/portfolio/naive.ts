/**
 * A portfolio simulated as a person would on paper: maps, loops over all candles at every instant, nothing shared with the engine.
 * It knows market orders, stops and targets of trades, portfolio targets, rates of commission, bps, spread, leverage and members.
 */
import { NaiveAccount } from "./naive_account.ts";
import type { NaiveAct, NaiveCandle, NaiveMarket, NaiveResult, NaiveRules } from "./naive_types.ts";

interface Pending {
  act: Exclude<NaiveAct, { kind: "weights" }>;
  /** The side of the position that a close was meant for. */
  closes: number;
  number: number;
}

export class NaivePortfolio extends NaiveAccount {
  readonly equity = new Map<number, number>();
  refused = 0;
  #pending: Pending[] = [];
  #weights = new Map<string, { weight: number; minTrade: number; from: number }>();
  #orders = 0;

  constructor(
    markets: readonly NaiveMarket[],
    rules: NaiveRules,
    readonly decide: (instant: number, portfolio: NaivePortfolio) => readonly NaiveAct[],
  ) {
    super(markets, rules);
  }

  run(): NaiveResult {
    const all = this.markets.flatMap(({ candles }) => candles);
    const instants = [...new Set(all.flatMap(({ opens, closes }) => [opens, closes]))].sort((a, b) => a - b);
    for (const instant of instants) {
      const closing = this.markets.filter(({ candles }) => candles.some(({ closes }) => closes === instant));
      if (closing.length > 0) {
        this.#inside(instant);
        this.#delist(instant);
        const equity = this.worth(instant, () => null);
        this.equity.set(instant, equity);
        if (equity <= 0) break;
        this.#take(instant, this.decide(instant, this));
      }
      this.#opens(instant);
    }
    const end = instants.at(-1)!;
    for (const market of this.markets) {
      for (const trade of this.open.get(market.id)!) {
        this.list(trade, trade.units, this.lastClose(market, end)!, 0, null, null, this.rateAt(market, end));
      }
    }
    const sorted = [...this.trades].sort((a, b) => a.number - b.number);
    const closed = sorted.filter(({ exitAt }) => exitAt !== null);
    return {
      trades: [...closed, ...sorted.filter(({ exitAt }) => exitAt === null)],
      equity: this.equity,
      refused: this.refused,
    };
  }

  #take(instant: number, acts: readonly NaiveAct[]): void {
    for (const act of acts) {
      if (act.kind === "weights") {
        this.#weights.clear();
        for (const [id, weight] of Object.entries(act.weights)) {
          if (!(weight === 0 && this.quantityOf(id) === 0)) {
            this.#weights.set(id, { weight, minTrade: act.minTrade, from: instant });
          }
        }
        continue;
      }
      const market = this.markets.find(({ id }) => id === act.id)!;
      const quantity = this.quantityOf(act.id);
      // To close nothing is no order.
      if (act.kind === "close" && quantity === 0) continue;
      if (act.kind === "enter" && !this.isMember(market, instant) && act.side * quantity >= 0) this.refused++;
      else this.#pending.push({ act, closes: Math.sign(quantity), number: this.#orders++ });
    }
  }

  /** Everything that begins at an instant. */
  #opens(instant: number): void {
    const opening = this.markets.filter(({ candles }) => candles.some(({ opens }) => opens === instant));
    const openOf = (market: NaiveMarket) => market.candles.find(({ opens }) => opens === instant)?.open ?? null;
    const due = this.#pending.filter(({ act }) => opening.some(({ id }) => id === act.id));
    // Stops and targets that the open has passed, in markets without an order.
    for (const market of opening) {
      if (due.some(({ act }) => act.id === market.id)) continue;
      this.#exitPassed(market, instant, openOf(market)!);
    }
    const equity = this.worth(instant, openOf);
    this.#pending = this.#pending.filter((order) => !due.includes(order));
    const done = new Set<Pending>();
    for (const market of opening) {
      for (const order of due.filter(({ act }) => act.id === market.id)) {
        if (order.act.kind !== "close") break;
        this.#fill(order, market, instant, openOf);
        done.add(order);
      }
    }
    const budgets = new Map<string, number>();
    for (const market of opening) this.#reduce(market, instant, openOf(market)!, equity, budgets);
    for (const order of due.filter((one) => !done.has(one))) {
      this.#fill(order, opening.find(({ id }) => id === order.act.id)!, instant, openOf);
    }
    this.#increase(opening, instant, openOf, budgets);
  }

  #fill(
    { act, closes }: Pending,
    market: NaiveMarket,
    instant: number,
    openOf: (market: NaiveMarket) => number | null,
  ): void {
    const raw = openOf(market)!;
    const quantity = this.quantityOf(market.id);
    if (act.kind === "close") {
      if (quantity * closes > 0) this.exitOldest(market, instant, instant, Math.abs(quantity), raw, "signal");
      return;
    }
    const { side, stop, target } = act;
    if (side * quantity < 0) this.exitOldest(market, instant, instant, Math.abs(quantity), raw, "signal");
    const { leverage, size, positionsMax } = this.rules;
    const equity = this.worth(instant, openOf);
    const free = Math.max(0, equity - this.gross(instant, openOf) / leverage) * leverage;
    const rate = this.rateAt(market, instant);
    const price = this.fillPrice(raw, side, true);
    const units = this.affordable(Math.min(size * equity * leverage, free) / rate, price);
    const held = this.markets.filter(({ id }) => this.quantityOf(id) !== 0).length;
    const isFull = this.quantityOf(market.id) === 0 && held >= positionsMax;
    if (units <= 0 || !this.isMember(market, instant) || isFull) return void this.refused++;
    this.enter(market, instant, instant, units, side, raw, {
      stop: price * (1 - side * stop),
      target: price * (1 + side * target),
    });
  }

  #reduce(market: NaiveMarket, instant: number, raw: number, equity: number, budgets: Map<string, number>): void {
    const found = this.#weights.get(market.id);
    if (found === undefined) return;
    const quantity = this.quantityOf(market.id);
    const rate = this.rateAt(market, instant);
    const { weight, minTrade } = found;
    const value = quantity * raw * rate;
    if (weight !== 0 && Math.abs(weight * equity - value) < minTrade * equity) {
      return void this.#weights.delete(market.id);
    }
    const isSame = weight * quantity > 0;
    const wanted = Math.abs(weight) * equity;
    if (wanted > (isSame ? Math.abs(value) : 0)) budgets.set(market.id, wanted - (isSame ? Math.abs(value) : 0));
    if (isSame && wanted >= Math.abs(value)) return;
    const units = Math.abs(quantity);
    const kept = isSame ? Math.min(units, this.round(wanted / (raw * rate))) : 0;
    if (units - kept > this.rules.lot / 2) this.exitOldest(market, instant, instant, units - kept, raw, "signal");
  }

  #increase(
    opening: readonly NaiveMarket[],
    instant: number,
    openOf: (market: NaiveMarket) => number | null,
    budgets: Map<string, number>,
  ): void {
    const asked = [...budgets.values()].reduce((sum, money) => sum + money, 0);
    const { leverage } = this.rules;
    const equity = this.worth(instant, openOf);
    const free = Math.max(0, equity - this.gross(instant, openOf) / leverage) * leverage;
    const part = asked > free ? free / asked : 1;
    for (const market of opening) {
      const found = this.#weights.get(market.id);
      this.#weights.delete(market.id);
      const budget = budgets.get(market.id) ?? 0;
      if (found === undefined || budget <= 0) continue;
      const side = Math.sign(found.weight);
      const raw = openOf(market)!;
      const units = this.affordable(budget * part / this.rateAt(market, instant), this.fillPrice(raw, side, true));
      if (units <= 0) continue;
      const quantity = this.quantityOf(market.id);
      if (side * quantity < 0) this.exitOldest(market, instant, instant, Math.abs(quantity), raw, "signal");
      if (!this.isMember(market, instant)) this.refused++;
      else this.enter(market, instant, instant, units, side, raw, { stop: NaN, target: NaN });
    }
  }

  #exitPassed(market: NaiveMarket, instant: number, open: number, at = instant): void {
    for (const trade of [...this.open.get(market.id)!]) {
      const { side, stop, target } = trade;
      if (side > 0 ? open <= stop : open >= stop) {
        this.exit(market, instant, at, trade, trade.units, open, true, "stop_loss");
      } else if (side > 0 ? open >= target : open <= target) {
        this.exit(market, instant, at, trade, trade.units, open, false, "take_profit");
      }
    }
  }

  /** The inside of every candle that closes at an instant: stops first, then targets, then the margin. */
  #inside(instant: number): void {
    const candleOf = ({ candles }: NaiveMarket) => candles.find(({ closes }) => closes === instant);
    const worstOf = (market: NaiveMarket) => {
      const candle = candleOf(market);
      return candle === undefined ? null : this.quantityOf(market.id) > 0 ? candle.low : candle.high;
    };
    const worst = new Map(this.markets.map((market) => [market.id, worstOf(market)]));
    this.inside = new Map(this.markets.flatMap((market) => {
      const candle = candleOf(market);
      return candle === undefined ? [] : [[market.id, candle.opens]];
    }));
    for (const market of this.markets) {
      const candle = candleOf(market);
      if (candle === undefined) continue;
      this.#exitPassed(market, instant, candle.open, candle.opens);
      for (const trade of [...this.open.get(market.id)!]) {
        const { side, stop } = trade;
        if (side > 0 ? candle.low > stop : candle.high < stop) continue;
        if (Number.isNaN(stop)) continue;
        this.exit(market, instant, candle.opens, trade, trade.units, stop, true, "stop_loss");
      }
      this.#call(market, instant, candle, worst);
      for (const trade of [...this.open.get(market.id)!]) {
        const { side, target } = trade;
        if (!(side > 0 ? candle.high >= target : candle.low <= target)) continue;
        this.exit(market, instant, candle.opens, trade, trade.units, target, false, "take_profit");
      }
      this.#call(market, instant, candle, worst);
    }
    this.inside = null;
  }

  #call(market: NaiveMarket, instant: number, candle: NaiveCandle, worst: Map<string, number | null>): void {
    const quantity = this.quantityOf(market.id);
    if (quantity === 0) return;
    const { leverage, maintenance } = this.rules;
    const priceOf = ({ id }: NaiveMarket) => worst.get(id) ?? null;
    const needed = this.markets.reduce((sum, other) => {
      const held = this.quantityOf(other.id);
      if (held === 0 || (held > 0 && leverage <= 1)) return sum;
      return sum + maintenance * Math.abs(this.value(other, instant, priceOf(other))) / leverage;
    }, 0);
    if (needed === 0 || this.worth(instant, priceOf) >= needed) return;
    this.exitOldest(
      market,
      instant,
      candle.opens,
      Math.abs(quantity),
      quantity > 0 ? candle.low : candle.high,
      "margin_call",
    );
  }

  #delist(instant: number): void {
    for (const market of this.markets) {
      const last = market.candles.at(-1)!;
      if (!market.isDelisted || last.closes !== instant) continue;
      this.exitOldest(market, instant, last.opens, Math.abs(this.quantityOf(market.id)), last.close, "delisted");
    }
  }
}
