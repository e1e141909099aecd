import * as book from "./book.ts";
import { roundToLots } from "./rules/lots.ts";
import { fillableUnits, slippedPrice } from "./rules/slippage.ts";
import { spreadPrice } from "./rules/spread.ts";
import type { Simulation } from "./simulation.ts";
import { LIMIT, MARKET, STOP, STOP_LIMIT } from "./strategy.ts";

/** Whether an order is one that slips: a limit order, triggered or not, names its price. */
export function slips(sim: Simulation, row: number): boolean {
  const type = sim.book.get(row, book.TYPE);
  return type !== LIMIT && type !== STOP_LIMIT;
}

/** The price of a fill: the candle's, then slippage, then spread. */
export function fillPrice(
  sim: Simulation,
  i: number,
  raw: number,
  side: number,
  units: number,
  isEntry: boolean,
  slipping: boolean,
): number {
  const { execution } = sim;
  const isWorse = slipping && execution.slippage !== 0;
  const slipped = isWorse ? slippedPrice(execution.slippage, raw, side, units, sim.candles.volume[i]!) : raw;
  return spreadPrice(execution, slipped, side, isEntry);
}

/**
 * How many of the wanted units this candle's volume still allows; all of them without a volume share. What is taken is
 * gone for the candle's other market and stop orders. A part is rounded down to lots.
 */
export function takeVolume(sim: Simulation, i: number, wanted: number): number {
  // Nothing else reads the column of volumes: where it does not count, it is not fetched from memory.
  if (sim.execution.slippage === 0) return wanted;
  const fillable = fillableUnits(sim.execution.slippage, sim.candles.volume[i]!);
  if (fillable === Infinity || sim.ignoresVolume) return wanted;
  if (sim.volumeIndex !== i) {
    sim.volumeIndex = i;
    sim.volumeTaken = 0;
  }
  const left = fillable - sim.volumeTaken;
  const units = wanted <= left ? wanted : Math.max(0, roundToLots(left, sim.execution.quantityStep));
  sim.volumeTaken += units;
  return units;
}

/** Leaves what could not be filled for the next candle's open, at market: a stop that was reached stays reached. */
export function postpone(sim: Simulation, row: number, i: number): void {
  if (sim.book.get(row, book.TYPE) === STOP) {
    sim.book.set(row, book.TYPE, MARKET);
    sim.book.set(row, book.UNTIL, Infinity);
    sim.book.markets++;
  }
  sim.book.set(row, book.FROM, i + 1);
  sim.dirty = true;
}
