import { atrTrend } from "./atr_trend.ts";
import { bollingerReversion } from "./bollinger_reversion.ts";
import { buyAndHold } from "./buy_and_hold.ts";
import { dca } from "./dca.ts";
import { donchianBreakout } from "./donchian_breakout.ts";
import { emaCross } from "./ema_cross.ts";
import { grid } from "./grid.ts";
import { macdCross } from "./macd.ts";
import { rsiReversion } from "./rsi_reversion.ts";
import { smaCross } from "./sma_cross.ts";
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
];

/** The built-in of this slug, or undefined. */
export function findBuiltin(slug: string): Builtin | undefined {
  return BUILTINS.find((builtin) => builtin.slug === slug);
}
