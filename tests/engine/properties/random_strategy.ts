import type { Candles } from "../../../engine/candles.ts";
import {
  type Account,
  BY_UNITS,
  newDraft,
  type OrderBook,
  type OrderDraft,
  type Strategy,
} from "../../../engine/strategy.ts";
import { mixSeeds, type Random, randomFrom } from "./random.ts";

/** A strategy that uses every action, and keeps a transcript of what it was shown. */
export interface RandomStrategy extends Strategy {
  /**
   * A transcript of each simulation: for each candle its index, the shown cash, equity, quantity and entry price, then every
   * answer of the book. Two simulators must give the same.
   */
  readonly transcripts: number[][][];
}

/**
 * Decisions that depend on the seed, the candle and the book's answers, without memory.
 *
 * @param activity Actions a candle, on average.
 * @param hoards Whether it only buys, in small quantities, so that many trades are open at once.
 */
export function randomStrategy(
  seed: number,
  { activity, tick, warmup, hoards }: Readonly<{ activity: number; tick: number; warmup: number; hoards: boolean }>,
): RandomStrategy {
  let closes = new Float64Array(0);
  const transcripts: number[][][] = [];
  return {
    warmup,
    transcripts,
    prepare(candles: Candles) {
      transcripts.push([]);
      closes = candles.close.slice();
    },
    decide(i, account, book) {
      const random = randomFrom(mixSeeds(seed, i));
      const answers = [i, account.cash, account.equity, account.quantity, account.entryPrice];
      while (random.chance(activity / (1 + activity))) {
        answers.push(act(random, account, book, { close: closes[i]!, tick, hoards }));
      }
      answers.push(book.workingOrders, book.openTrades);
      transcripts.at(-1)!.push(answers);
    },
  };
}

interface Market {
  readonly close: number;
  readonly tick: number;
  readonly hoards: boolean;
}

function act(random: Random, account: Account, book: OrderBook, market: Market): number {
  const { close, tick, hoards } = market;
  const kind = random.next() * (hoards ? 0.6 : 1);
  const anyTrade = () => book.openTrades === 0 ? 0 : book.tradeAt(random.whole(0, book.openTrades - 1));
  const anyOrder = () => random.whole(0, 12 + Math.floor(20 * random.next() ** 2));
  if (kind < 0.6) return book.place(randomDraft(random, account, market));
  if (kind < 0.68) return book.close(random.pick([1, 1, 0.5, 0.3, 2, 0]), "close");
  if (kind < 0.76) return book.closeTrade(anyTrade(), random.pick([1, 0.5, 0.29]), null);
  if (kind < 0.82) return Number(book.cancel(anyOrder()));
  if (kind < 0.84) return book.cancelAll(), 0;
  if (kind < 0.9) return book.replace(anyOrder(), randomDraft(random, account, market));
  if (kind < 0.94) return Number(book.isWorking(anyOrder()));
  const trade = anyTrade();
  const guard = (direction: number) => random.chance(0.2) ? NaN : near(random, close, direction, tick);
  const side = Math.sign(book.tradeQuantity(trade)) || 1;
  const changed = Number(book.protect(trade, guard(-side), guard(side)));
  return changed + 2 * Number(book.isOpen(trade)) + (book.tradeEntryPrice(trade) || 0) + book.tradeQuantity(trade);
}

/** A price, mostly on one side of the market, rounded to ticks so that some candles touch it exactly. */
function near(random: Random, close: number, direction: number, tick: number): number {
  const distance = random.chance(0.1) ? random.between(-0.03, 0) : random.between(0, random.pick([0.01, 0.03, 0.15]));
  return Math.max(tick, Math.round(close * (1 + direction * distance) / tick) * tick);
}

function randomDraft(random: Random, account: Account, { close, tick, hoards }: Market): OrderDraft {
  const side = hoards || random.chance(0.55) ? 1 : -1;
  const type = random.whole(0, 3);
  const stopPrice = near(random, close, side, tick);
  const limitPrice = type === 3
    ? near(random, stopPrice, random.pick([1, -1]), tick)
    : near(random, close, -side, tick);
  const entry = type === 1 ? limitPrice : type === 0 ? close : stopPrice;
  const sizeBy = hoards ? BY_UNITS : random.whole(0, 4);
  const share = account.equity / close;
  const draft: OrderDraft = {
    ...newDraft(),
    side,
    type,
    sizeBy,
    size: [
      NaN,
      share * random.between(0, hoards ? 0.1 : 1.2),
      random.between(0.01, 1.2),
      account.equity * random.next(),
      0.02,
    ][sizeBy]!,
    limitPrice: type === 1 || type === 3 || random.chance(0.1) ? limitPrice : NaN,
    stopPrice: type >= 2 || random.chance(0.1) ? stopPrice : NaN,
    candlesMax: random.chance(0.4) ? random.whole(1, 6) : 0,
    reduceOnly: random.chance(0.12),
    tag: random.chance(0.3) ? "tagged" : null,
  };
  attachGuards(random, draft, entry, tick);
  if (random.chance(0.03)) spoil(random, draft);
  return draft;
}

function attachGuards(random: Random, draft: OrderDraft, entry: number, tick: number): void {
  if (random.chance(0.3)) draft.stopLoss = near(random, entry, -draft.side, tick);
  if (random.chance(0.2)) draft.stopLossFraction = random.between(0.001, 0.1);
  if (random.chance(0.3)) draft.takeProfit = near(random, entry, draft.side, tick);
  if (random.chance(0.2)) draft.takeProfitFraction = random.between(0.001, 0.1);
  if (random.chance(0.15)) draft.trailDistance = entry * random.between(0.001, 0.05);
  if (random.chance(0.15)) draft.trailFraction = random.between(0.001, 0.05);
  if (random.chance(0.2)) draft.timeStopCandles = random.whole(1, 8);
}

/** Creates an order that must be refused, or one with unusable guards. */
function spoil(random: Random, draft: OrderDraft): void {
  const mistakes: readonly [() => void, ...(() => void)[]] = [
    () => draft.side = 0,
    () => draft.type = 4,
    () => draft.size = random.pick([-1, 0, Infinity, NaN]),
    () => draft.limitPrice = random.pick([-1, 0, Infinity, NaN]),
    () => draft.stopPrice = random.pick([-1, 0, Infinity, NaN]),
    () => draft.stopLoss = random.pick([-1, 0, 1e9]),
    () => draft.takeProfit = random.pick([-1, 0, 1e9]),
    () => draft.trailDistance = random.pick([-1, 0]),
  ];
  random.pick(mistakes)();
}
