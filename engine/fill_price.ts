import { feeOf } from "./rules/fees.ts";
import { fillableUnits, slippedPrice } from "./rules/slippage.ts";
import { spreadPrice } from "./rules/spread.ts";
import type { Simulation } from "./simulation.ts";
import { MARKET, STOP } from "./strategy.ts";
import type { WorkingOrder } from "./working_order.ts";

/** Sets price and fee of a fill whose units are known: the market's price, then slippage, then spread. */
export function setPrice(sim: Simulation, side: number, isEntry: boolean): void {
  const { execution, fill } = sim;
  const isWorse = fill.slips && execution.slippage !== 0;
  const slipped = isWorse
    ? slippedPrice(execution.slippage, fill.raw, side, fill.units, sim.candles.volume[fill.index]!)
    : fill.raw;
  fill.price = spreadPrice(execution, slipped, side, isEntry);
  fill.fee = feeOf(execution.commission, fill.units, fill.price);
}

/**
 * How many of the wanted units this candle's volume still allows; all of them without a volume share. What is taken is
 * gone for the candle's other market and stop orders. A part is rounded down to lots.
 */
export function takeVolume(sim: Simulation, wanted: number): number {
  // Nothing else reads the column of volumes: where it does not count, it is not fetched from memory.
  if (sim.execution.slippage === 0) return wanted;
  const { index } = sim.fill;
  const fillable = fillableUnits(sim.execution.slippage, sim.candles.volume[index]!);
  if (fillable === Infinity || sim.ignoresVolume) return wanted;
  if (sim.volumeIndex !== index) {
    sim.volumeIndex = index;
    sim.volumeTaken = 0;
  }
  const left = fillable - sim.volumeTaken;
  const units = wanted <= left ? wanted : Math.max(0, sim.lots.roundDown(left));
  sim.volumeTaken += units;
  return units;
}

/** Leaves what could not be filled for the next candle's open, at market: a stop that was reached stays reached. */
export function postpone(sim: Simulation, order: WorkingOrder): void {
  if (order.type === STOP) {
    order.type = MARKET;
    order.until = Infinity;
    sim.book.markets++;
  }
  order.from = sim.fill.index + 1;
  if (order.isEntry && !order.isHeldBack) {
    order.isHeldBack = true;
    sim.book.heldBack++;
  }
  sim.dirty = true;
}
