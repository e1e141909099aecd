import type { Candles } from "./candles.ts";
import { Simulation, type SimulationInput } from "./simulation.ts";

const NONE = new Float64Array(0);
const NO_ROWS: Candles = { time: NONE, open: NONE, high: NONE, low: NONE, close: NONE, volume: NONE };

let kept: Simulation | null = null;

/**
 * Keeps a simulation without candles from the first run on. At a full collection V8 drops the code that it has compiled for
 * classes of which no object is left. Between two runs that is all of it, and the next run would start in the interpreter.
 *
 * @param input The first run's: rules and candles are objects of its classes.
 */
export function keepCompiledCode(input: SimulationInput): void {
  if (kept !== null) return;
  const candles = { ...input.candles, ...NO_ROWS };
  kept = new Simulation({ ...input, candles, firstIndex: 0, finer: null, pool: null, keepsDetails: true });
}
