import { BPS_SLIPPAGE } from "./bps_slippage.ts";
import type { SlippageKind, SlippageModel } from "./slippage_model.ts";
import { TICK_SLIPPAGE } from "./tick_slippage.ts";
import { VOLUME_SHARE_SLIPPAGE } from "./volume_share_slippage.ts";

/** Every model. Settings name theirs by their keys. */
const KINDS = [BPS_SLIPPAGE, TICK_SLIPPAGE, VOLUME_SHARE_SLIPPAGE] as const;

export const SLIPPAGE_KINDS: readonly SlippageKind<SlippageSettings>[] = KINDS;

type SettingsOf<Kind> = Kind extends SlippageKind<infer Settings> ? Settings : never;
export type SlippageSettings = SettingsOf<typeof KINDS[number]>;
/** How much worse than the candle's price a market or stop order is filled; 0: not at all. */
export type Slippage = 0 | SlippageSettings;

/** The model of these settings. @throws {TypeError} When no model has them: their schema is checked before. */
export function slippageModelOf(slippage: SlippageSettings): SlippageModel<SlippageSettings> {
  const kind = SLIPPAGE_KINDS.find(({ settings }) => Object.keys(settings).every((name) => name in slippage));
  if (kind === undefined) {
    throw new TypeError(`Cannot slip by ${JSON.stringify(slippage)}: no model has these settings`);
  }
  return kind.create(slippage);
}
