import { METRIC_DEFINITIONS, METRIC_NAMES } from "../../../engine/metrics/definitions.ts";
import { TOO_LARGE } from "../../../engine/metrics/reasons.ts";
import { hasFinancing } from "../../../engine/rules/financing.ts";
import type { RunResult } from "../../../engine/run.ts";
import { simulateSlowly } from "../oracle/simulate.ts";
import { differences, isSame } from "./compare.ts";
import type { RandomRun } from "./random_run.ts";

/** One run's result, and the transcript of its strategy. */
export interface Finished {
  readonly input: RandomRun;
  readonly result: RunResult;
  readonly transcript: readonly (readonly number[])[];
  /** The most money that the run had at stake: the account, and the largest position. */
  readonly scale: number;
}

/** Lists a run's violations of one property, a line each. */
export type Check = (finished: Finished) => string[];

/** Index of the candle that opened at a time, -1 where none did. */
function indexOf({ input: { candles: { time } } }: Finished, timeMs: number): number {
  let low = 0;
  let high = time.length - 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (time[middle]! < timeMs) low = middle + 1;
    else high = middle;
  }
  return time[low] === timeMs ? low : -1;
}

/** Each metric that is null has a reason that its definition names. */
export const nullsHaveStatedReasons: Check = ({ result: { metrics, undefinedMetrics } }) =>
  METRIC_NAMES.filter((name) => {
    const reason = undefinedMetrics[name];
    const isStated = [...METRIC_DEFINITIONS[name].undefinedWhen, TOO_LARGE].includes(reason ?? "");
    return (metrics[name] === null) !== (reason !== undefined) || (reason !== undefined && !isStated);
  }).map((name) => `${name} is ${metrics[name]} because of "${undefinedMetrics[name]}"`);

/** Equity is cash plus position at the close, and all gains but interest are in the trades, fees included. */
export const balances: Check = ({ input, result, transcript, scale }) => {
  const { candles: { close }, initialBalance } = input;
  const lines: string[] = [];
  for (const [i, cash, equity, quantity] of transcript) {
    if (!isSame(cash! + quantity! * close[i!]!, equity, scale)) lines.push(`candle ${i}: equity is ${equity}`);
  }
  const gained = result.equity.at(-1)! - initialBalance - (result.metrics.cash_interest ?? NaN);
  const listed = result.trades.pnl.reduce((sum, pnl) => sum + pnl, 0);
  return isSame(listed, gained, scale) ? lines : [...lines, `${gained} were gained, and the trades sum to ${listed}`];
};

/** The noted balances give equity and position at every close, to the bit; their rows ascend from 0. */
export const balancesGiveEquity: Check = ({ input, result: { balances: { from, cash, units }, equity, position } }) => {
  const { candles: { close }, firstIndex } = input;
  const lines: string[] = [];
  for (let row = 0, k = 0; row < equity.length; row++) {
    while (from[k + 1]! <= row) k++;
    const marked = cash[k]! + units[k]! * close[firstIndex + row]!;
    if (!Object.is(marked, equity[row])) {
      lines.push(`row ${row}: equity is ${equity[row]}, the balances give ${marked}`);
    }
    if (!Object.is(units[k], position[row])) {
      lines.push(`row ${row}: the position is ${position[row]}, not ${units[k]}`);
    }
  }
  const isAscending = from[0] === 0 && from.every((row, k) => k === 0 || row > from[k - 1]!);
  return isAscending ? lines : [...lines, `the balances begin at ${from}`];
};

/** Without fees and financing, the trades alone determine equity and position at every close. */
export const tradesGiveEquity: Check = (finished) => {
  const { input, result: { trades, equity, position }, scale } = finished;
  const { commission, slippage } = input.execution;
  const fees = commission.rate + commission.fixed + commission.perUnit + commission.minimum;
  const fillsInParts = slippage !== 0 && "volumeShare" in slippage;
  if (fees > 0 || hasFinancing(input.execution) || fillsInParts || equity.at(-1) === 0) return [];
  const lines: string[] = [];
  // Units bought at a close are held from that close on, and units sold at it are not.
  for (let k = 0; k < equity.length; k++) {
    const i = input.firstIndex + k;
    let money = input.initialBalance;
    let held = 0;
    for (let n = 0; n < trades.count; n++) {
      if (trades.entryTime[n]! > input.candles.time[i]!) continue;
      const isOpen = !(trades.exitTime[n]! <= input.candles.time[i]!);
      const price = isOpen ? input.candles.close[i]! : trades.exitPrice[n]!;
      money += trades.side[n]! * trades.quantity[n]! * (price - trades.entryPrice[n]!);
      if (isOpen) held += trades.side[n]! * trades.quantity[n]!;
    }
    if (!isSame(money, equity[k]!, scale)) lines.push(`candle ${i}: trades tell ${money}, equity is ${equity[k]}`);
    if (!isSame(held, position[k]!, 1e-6)) lines.push(`candle ${i}: trades tell ${held} units, not ${position[k]}`);
  }
  return lines;
};

/** Every price, before spread and slippage, lies in its candle. */
export const fillsLieInTheirCandles: Check = (finished) => {
  const { input: { candles: { high, low }, execution }, result: { trades, orders }, scale } = finished;
  const lines: string[] = [];
  const look = (what: string, timeMs: number, price: number, side: number) => {
    const i = indexOf(finished, timeMs);
    const worst = worstPrice(execution, side > 0 ? high[i]! : low[i]!, side);
    const [least, most] = side > 0 ? [low[i]!, worst] : [worst, high[i]!];
    if (price < least && !isSame(price, least, 0)) lines.push(`${what}: ${price} is below candle ${i}`);
    if (price > most && !isSame(price, most, 0)) lines.push(`${what}: ${price} is above candle ${i}`);
  };
  // The mean of several fills belongs to no single candle.
  const inParts = execution.slippage !== 0 && "volumeShare" in execution.slippage;
  for (let k = 0; k < trades.count; k++) {
    if (!inParts) look(`entry of trade ${k}`, trades.entryTime[k]!, trades.entryPrice[k]!, trades.side[k]!);
    if (!Number.isNaN(trades.exitTime[k]!)) {
      look(`exit of trade ${k}`, trades.exitTime[k]!, trades.exitPrice[k]!, -trades.side[k]!);
    }
  }
  for (let k = 0; k < orders.count && !inParts; k++) {
    if (orders.filledQuantity[k]! > 1e-9 * scale) {
      look(`order ${k}`, orders.fillTime[k]!, orders.price[k]!, orders.side[k]!);
    }
  }
  return lines;
};

/** The worst price after slippage and spread. */
function worstPrice({ slippage, spread }: RandomRun["execution"], price: number, side: number): number {
  let slipped = price;
  if (slippage !== 0) {
    if ("bps" in slippage) slipped = price * (1 + side * slippage.bps / 10_000);
    else if ("ticks" in slippage) slipped = price + side * slippage.ticks * slippage.tickSize;
    else slipped = price * (1 + side * slippage.impact * slippage.volumeShare ** 2);
  }
  return slipped * (1 + side * spread);
}

/** No order is filled before the next candle; only market orders may fill at their own close, with fill `close`. */
export const fillsFollowTheirOrders: Check = (finished) => {
  const { input, result: { orders, trades } } = finished;
  const lines: string[] = [];
  for (let k = 0; k < orders.count; k++) {
    if (Number.isNaN(orders.fillTime[k]!)) continue;
    const wait = input.execution.fill === "close" && orders.type[k] === 0 ? 0 : 1;
    const earliest = indexOf(finished, orders.time[k]!) + wait;
    const filled = indexOf(finished, orders.fillTime[k]!);
    if (filled < earliest) lines.push(`order ${k} is filled in candle ${filled}, before ${earliest}`);
  }
  for (let k = 0; k < trades.count; k++) {
    if (trades.exitTime[k]! < trades.entryTime[k]!) lines.push(`trade ${k} ends before it begins`);
    if (indexOf(finished, trades.entryTime[k]!) < input.firstIndex) lines.push(`trade ${k} begins before the run`);
  }
  return lines;
};

/**
 * No entry exceeds the buying power. Checked in candles with a single fill, without spread and slippage: there the accounts
 * at two closes give the price, the fee and the account just before.
 */
export const staysWithinBuyingPower: Check = (finished) => {
  const { input: { execution }, result: { orders, trades }, transcript, scale } = finished;
  const { leverage } = execution;
  const isPlain = execution.spread === 0 && execution.slippage === 0 && execution.fill === "next_open" &&
    execution.sizingPrice === "fill" && execution.sizingMark === "fill" && execution.sizingFee === "order" &&
    !hasFinancing(execution);
  const lines: string[] = [];
  for (let n = 1; isPlain && n < transcript.length; n++) {
    const [i, cash, , quantity] = transcript[n]!;
    const [, cashBefore, , quantityBefore] = transcript[n - 1]!;
    const timeMs = finished.input.candles.time[i!]!;
    const entries = [...orders.fillTime.keys()].filter((k) => orders.fillTime[k] === timeMs);
    if (entries.length !== 1 || trades.exitTime.includes(timeMs)) continue;
    const price = orders.price[entries[0]!]!;
    const value = Math.abs(quantity! - quantityBefore!) * price;
    const fee = cashBefore! - cash! - (quantity! - quantityBefore!) * price;
    const tied = Math.abs(quantityBefore!) * price / leverage;
    const power = Math.max(0, cashBefore! + quantityBefore! * price - tied) * leverage;
    if (value + fee > power && !isSame(value + fee, power, scale)) {
      lines.push(`candle ${i}: ${value} and a fee of ${fee} are spent, and ${power} are there`);
    }
  }
  return lines;
};

/** Equity is never below zero and stays at zero once there; without allowShort no position is short. */
export const respectsTheAccount: Check = ({ input, result: { equity, position } }) => {
  const lines: string[] = [];
  for (let k = 0; k < equity.length; k++) {
    if (equity[k]! < 0) lines.push(`close ${k}: equity is ${equity[k]}`);
    if (equity[k] === 0 && k + 1 < equity.length && equity[k + 1] !== 0) {
      lines.push(`close ${k + 1}: money from nothing`);
    }
    if (!input.execution.allowShort && position[k]! < 0) lines.push(`close ${k}: ${position[k]} units are held`);
  }
  return lines;
};

/** The slow simulator gives the same orders, trades, closes and totals, and shows the strategy the same account. */
export const agreesWithTheSlowSimulator: Check = ({ input, result, transcript, scale }) => {
  const { transcripts } = input.strategy;
  const before = transcripts.length;
  const slow = simulateSlowly(input);
  const answers = transcript.map((shown, n) => ({ shown, slow: transcripts[before]![n] ?? [] }))
    .filter(({ shown, slow }) =>
      shown.length !== slow.length || shown.some((value, k) => !isSame(value, slow[k], scale))
    )
    .map(({ shown, slow }) => `candle ${shown[0]}: the strategy was shown ${shown}, not ${slow}`);
  return [...answers, ...differences(input, result, slow, scale)];
};
