import { type BpsSettings, BpsSlippage } from "./bps_slippage.ts";
import type { SlippageModel } from "./slippage_model.ts";
import { type TickSettings, TickSlippage } from "./tick_slippage.ts";
import { type VolumeShareSettings, VolumeShareSlippage } from "./volume_share_slippage.ts";

/** How much worse than the candle's price a market or stop order is filled; 0: not at all. */
export type Slippage = 0 | Settings;
type Settings = BpsSettings | TickSettings | VolumeShareSettings;

/** Every model: each knows its settings by their keys. */
const MODELS: readonly ((settings: Settings) => SlippageModel | null)[] = [
  (settings) => "bps" in settings ? new BpsSlippage(settings) : null,
  (settings) => "ticks" in settings ? new TickSlippage(settings) : null,
  (settings) => "volumeShare" in settings ? new VolumeShareSlippage(settings) : null,
];

/**
 * The model of these settings; null: nothing slips.
 *
 * @throws {TypeError} When no model has them: their schema is checked before.
 */
export function slippageModelOf(slippage: Slippage): SlippageModel | null {
  if (slippage === 0) return null;
  for (const create of MODELS) {
    const model = create(slippage);
    if (model !== null) return model;
  }
  throw new TypeError(`Cannot slip by ${JSON.stringify(slippage)}: no model has these settings`);
}
