import { adxTrend } from "./adx_trend.ts";
import { atrTrend } from "./atr_trend.ts";
import { bollingerReversion } from "./bollinger_reversion.ts";
import { buyAndHold } from "./buy_and_hold.ts";
import { dca } from "./dca.ts";
import { donchianBreakout } from "./donchian_breakout.ts";
import { emaCross } from "./ema_cross.ts";
import { grid } from "./grid.ts";
import { ichimokuTrend } from "./ichimoku.ts";
import { keltnerReversion } from "./keltner_reversion.ts";
import { macdCross } from "./macd.ts";
import { openingRangeBreakout } from "./opening_range_breakout.ts";
import { rsiReversion } from "./rsi_reversion.ts";
import { smaCross } from "./sma_cross.ts";
import { stochasticTurns } from "./stochastic.ts";
import { supertrendTurns } from "./supertrend.ts";
import { turtle } from "./turtle.ts";
import { volatilityTarget } from "./volatility_target.ts";
import { vwapReversion } from "./vwap_reversion.ts";
import { zscoreReversion } from "./zscore_reversion.ts";
import type { Builtin } from "./builtin.ts";

/** Every built-in strategy, in the order of the catalogue. */
export const BUILTINS: readonly Builtin[] = [
  buyAndHold,
  smaCross,
  emaCross,
  macdCross,
  rsiReversion,
  bollingerReversion,
  donchianBreakout,
  atrTrend,
  dca,
  grid,
  adxTrend,
  supertrendTurns,
  ichimokuTrend,
  turtle,
  openingRangeBreakout,
  stochasticTurns,
  keltnerReversion,
  vwapReversion,
  zscoreReversion,
  volatilityTarget,
];

/** The built-in of this slug, or undefined. */
export function findBuiltin(slug: string): Builtin | undefined {
  return BUILTINS.find((builtin) => builtin.slug === slug);
}
