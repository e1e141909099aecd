/** The jobs of a sandbox process over many markets. */
import type { MarketsTask, SimulatedMarkets } from "../common/protocol.ts";
import type { RemoteMarketsTask } from "../common/remote_task.ts";
import type { Marked } from "./decision_calls.ts";
import { countInputCandles } from "./candle_series.ts";
import type { ScriptLanguage } from "./contracts/layout.ts";

/** A backtest of a user's code over many markets. */
interface MarketsRun {
  /** Candles that the caller wanted before the range; null: it cannot load more than the task has. */
  readonly lookbackWanted: number | null;
  /** The strategy's own parameters, as JSON. */
  readonly parametersJson: string;
  /** No decision before this many candles. */
  readonly candlesMin: number;
  readonly task: MarketsTask;
}

/** A backtest of a module over many markets. */
export interface WasmMarketsJob extends MarketsRun {
  readonly kind: "run_markets";
  readonly module: Uint8Array;
}

/** A backtest of a script over many markets. */
export interface ScriptMarketsJob extends MarketsRun, Marked {
  readonly kind: "script_markets";
  readonly source: string;
  /** Of the source. */
  readonly language: ScriptLanguage;
}

/** A backtest of an endpoint over many markets. */
export interface RemoteMarketsJob {
  readonly kind: "remote_markets";
  readonly task: RemoteMarketsTask;
}

/** The value of a run over many markets. */
export interface SandboxMarkets extends SimulatedMarkets {
  /** Lines that the strategies logged. */
  readonly log: readonly string[];
}

/** Candles of all markets: finer ones and inputs included, with the rows by which these are aligned. */
export function countCandles({ markets }: MarketsTask): number {
  return markets.reduce((sum, market) => {
    const { candles, finer = null } = market;
    return sum + candles.time.length + (finer?.time.length ?? 0) + countInputCandles(market);
  }, 0);
}
