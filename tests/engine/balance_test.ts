/**
 * Random orders of every type on random candles: whatever happens, the books balance. A failure prints the seed of its
 * run; put it into FIRST_SEED with RUNS 1 to see it alone.
 */
import { expect } from "@std/expect";
import type { Candles } from "../../engine/candles.ts";
import { type ExecutionRequest, resolveExecution } from "../../engine/execution.ts";
import { run, type RunResult } from "../../engine/run.ts";
import { newDraft, type OrderBook, type Strategy } from "../../engine/strategy.ts";
import { candlesOf, DAY_MS, type Row } from "./market.ts";

const FIRST_SEED = 1;
const RUNS = 10_000;
const CANDLES = 60;
const BALANCE = 10_000;

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

type Random = () => number;

function pick<T>(random: Random, ...choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
}

/** Gaps, candles without range, spikes, candles without volume. */
function randomCandles(random: Random): Candles {
  const rows: Row[] = [];
  let price = 100;
  for (let i = 0; i < CANDLES; i++) {
    const wild = random() < 0.05 ? 0.4 : 0.03;
    const open = random() < 0.3 ? price * (1 + (random() - 0.5) * wild) : price;
    const close = random() < 0.1 ? open : open * (1 + (random() - 0.5) * 2 * wild);
    const isFlat = open === close && random() < 0.5;
    const high = Math.max(open, close) * (isFlat ? 1 : 1 + random() * wild);
    const low = Math.min(open, close) * (isFlat ? 1 : 1 - random() * wild);
    rows.push([open, high, low, close, random() < 0.1 ? 0 : Math.floor(random() * 500)]);
    price = close;
  }
  return candlesOf(rows);
}

function randomExecution(random: Random): ExecutionRequest {
  return {
    fill: pick(random, "next_open", "close"),
    quantityStep: pick(random, 1e-8, 1, 0.01),
    sizing: pick<NonNullable<ExecutionRequest["sizing"]>>(
      random,
      { type: "equity_fraction", value: 1 },
      { type: "equity_fraction", value: 0.3 },
      { type: "units", value: 5 },
      { type: "cash", value: 900 },
      { type: "risk_fraction", value: 0.01 },
    ),
    fractionOf: pick(random, "equity", "free_margin"),
    sizingPrice: pick(random, "fill", "fill", "signal_close"),
    commission: pick<NonNullable<ExecutionRequest["commission"]>>(
      random,
      0,
      0.001,
      { fixed: 3, rate: 0.0005, perUnit: 0.01, minimum: 4, maximumRate: 0.02 },
    ),
    spread: pick(random, 0, 0.002),
    spreadOn: pick(random, "both", "entry"),
    slippage: pick<NonNullable<ExecutionRequest["slippage"]>>(
      random,
      0,
      { bps: 5 },
      { ticks: 1, tickSize: 0.05 },
      { volumeShare: 0.1, impact: 0.1 },
    ),
    leverage: pick(random, 1, 1, 3, 20),
    marginCall: pick(random, true, false),
    allowShort: pick(random, true, true, false),
    borrowRate: pick(random, 0, 0.2),
    fundingRate: pick(random, 0, 0.0005, -0.0005),
    limitFill: pick(random, "touch", "penetrate"),
    bothTouched: pick(random, "stop_first", "target_first", "nearest"),
    entryCandleExit: pick<boolean | "same_direction">(random, true, false, "same_direction"),
    exclusive: pick(random, "opposite", "any", "off"),
    closeAtEnd: pick(random, "none", "last_open", "last_close"),
  };
}

/** Places, cancels, replaces, protects and closes at random; remembers nothing, so that two runs do the same. */
function randomStrategy(seed: number, candles: Candles): Strategy {
  const draft = newDraft();
  let random = randomFrom(seed);
  const near = (close: number, width: number) => close * (1 + (random() - 0.5) * width);
  const fillIn = (close: number) => {
    draft.side = pick(random, 1, -1);
    draft.type = pick(random, 0, 1, 2, 3);
    draft.sizeBy = pick(random, 0, 0, 1, 2, 3, 4);
    draft.size = [NaN, 1 + random() * 20, random(), random() * 3000, random() * 0.03][draft.sizeBy]!;
    draft.limitPrice = near(close, 0.05);
    draft.stopPrice = near(close, 0.05);
    draft.candlesMax = pick(random, 0, 1, 5);
    draft.reduceOnly = random() < 0.1;
    draft.stopLoss = random() < 0.3 ? close * (1 - draft.side * random() * 0.05) : NaN;
    draft.takeProfit = random() < 0.3 ? close * (1 + draft.side * random() * 0.05) : NaN;
    draft.stopLossFraction = random() < 0.3 ? random() * 0.05 : NaN;
    draft.takeProfitFraction = random() < 0.3 ? random() * 0.05 : NaN;
    draft.trailDistance = random() < 0.15 ? close * random() * 0.05 : NaN;
    draft.trailFraction = random() < 0.15 ? random() * 0.05 : NaN;
    draft.timeStopCandles = random() < 0.2 ? Math.ceil(random() * 5) : 0;
  };
  const manage = (book: OrderBook, close: number) => {
    const trade = book.tradeAt(Math.floor(random() * book.openTrades));
    const choice = random();
    if (choice < 0.3) book.close(pick(random, 1, 0.5), null);
    else if (choice < 0.5) book.closeTrade(trade, pick(random, 1, 0.3), null);
    else book.protect(trade, close * (1 - random() * 0.05), close * (1 + random() * 0.05));
  };
  return {
    warmup: 1,
    prepare() {
      random = randomFrom(seed);
    },
    decide(i, _account, book) {
      const close = candles.close[i]!;
      if (random() < 0.1) book.cancelAll();
      if (book.openTrades > 0 && random() < 0.15) manage(book, close);
      if (random() > 0.4) return;
      fillIn(close);
      const order = book.place(draft);
      if (order >= 0 && random() < 0.1) book.replace(order, draft);
    },
  };
}

function near(got: number, want: number): boolean {
  return Math.abs(got - want) <= 1e-9 * BALANCE;
}

/** What holds for every run, whatever was decided and assumed. */
function findImbalance({ trades, equity, position, metrics, orders }: RunResult, candles: Candles): string | null {
  let total = 0;
  for (let k = 0; k < trades.count; k++) total += trades.pnl[k]!;
  const last = equity.length - 1;
  if (!near(equity[last]!, BALANCE + total)) return `final equity ${equity[last]} but trades give ${BALANCE + total}`;
  if (metrics.final_equity !== equity[last]) return "the metrics end elsewhere";
  let open = 0;
  for (let k = 0; k < trades.count; k++) {
    if (trades.exitReason[k] === 255) open += trades.side[k]! * trades.quantity[k]!;
    if (!(trades.quantity[k]! > 0)) return `trade ${k} has the quantity ${trades.quantity[k]}`;
    if (trades.exitTime[k]! < trades.entryTime[k]!) return `trade ${k} ends before it begins`;
    if (!(trades.mae[k]! >= 0 && trades.mfe[k]! >= 0)) {
      return `trade ${k} has the excursions ${trades.mae[k]}, ${trades.mfe[k]}`;
    }
  }
  if (!near(open, position[last]!)) return `the position is ${position[last]} but open trades hold ${open}`;
  for (let i = 0; i <= last; i++) {
    if (!(equity[i]! >= 0 && position[i]! > -Infinity)) {
      return `candle ${i}: equity ${equity[i]}, position ${position[i]}`;
    }
  }
  return findWrongFill(orders, candles);
}

/** No fill before its order. */
function findWrongFill(orders: RunResult["orders"], candles: Candles): string | null {
  for (let k = 0; k < orders.count; k++) {
    if (orders.fillTime[k]! < orders.time[k]!) return `order ${k} was filled before it was placed`;
    if (orders.status[k] === 1 && !(orders.filledQuantity[k]! > 0)) return `order ${k} is filled with nothing`;
    if (orders.time[k]! > candles.time[CANDLES - 1]!) return `order ${k} lies in the future`;
  }
  return null;
}

/** Cash, replayed from the fills of the trades alone, gives the same marks as the run's equity. */
function findWrongMark({ trades, equity, position }: RunResult, candles: Candles): string | null {
  for (let i = 0; i < equity.length - 1; i++) {
    let held = 0;
    const time = candles.time[i]!;
    for (let k = 0; k < trades.count; k++) {
      const hasBegun = trades.entryTime[k]! <= time;
      const hasEnded = trades.exitTime[k]! <= time;
      if (hasBegun && !hasEnded) held += trades.side[k]! * trades.quantity[k]!;
    }
    if (!near(held, position[i]!)) return `candle ${i}: the position is ${position[i]}, the trades hold ${held}`;
  }
  return null;
}

Deno.test(`the books balance after ${RUNS} random runs`, () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
    const random = randomFrom(seed);
    const candles = randomCandles(random);
    const request = randomExecution(random);
    const input = {
      candles,
      firstIndex: 0,
      timeframeMs: DAY_MS,
      initialBalance: BALANCE,
      execution: resolveExecution(request, "crypto"),
      strategy: randomStrategy(seed, candles),
      control: null,
    };
    const result = run(input);
    const isPlain = request.slippage === 0 || typeof request.slippage !== "object" ||
      !("volumeShare" in request.slippage);
    const wrong = findImbalance(result, candles) ?? (isPlain ? findWrongMark(result, candles) : null);
    if (wrong !== null) throw new Error(`seed ${seed}: ${wrong} under ${JSON.stringify(request)}`);
    if (seed % 100 === 0) expect(run(input)).toEqual(result);
  }
});

Deno.test("without costs no fill lies outside the candle in which it happened", () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS / 3; seed++) {
    const random = randomFrom(seed);
    const candles = randomCandles(random);
    const request = { ...randomExecution(random), spread: 0, slippage: 0 } as const;
    const { trades } = run({
      candles,
      firstIndex: 0,
      timeframeMs: DAY_MS,
      initialBalance: BALANCE,
      execution: resolveExecution(request, "crypto"),
      strategy: randomStrategy(seed, candles),
      control: null,
    });
    for (let k = 0; k < trades.count; k++) {
      const entry = trades.entryTime[k]! / DAY_MS;
      const exit = trades.exitTime[k]! / DAY_MS;
      const isInside = (price: number, i: number) => candles.low[i]! <= price && price <= candles.high[i]!;
      const fine = isInside(trades.entryPrice[k]!, entry) &&
        (Number.isNaN(exit) || isInside(trades.exitPrice[k]!, exit));
      if (!fine) throw new Error(`seed ${seed}: trade ${k} at ${trades.entryPrice[k]} and ${trades.exitPrice[k]}`);
    }
  }
});
