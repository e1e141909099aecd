import type { Slippage } from "../../execution.ts";
import { BpsSlippage } from "./bps_slippage.ts";
import type { SlippageModel } from "./slippage_model.ts";
import { TickSlippage } from "./tick_slippage.ts";
import { VolumeShareSlippage } from "./volume_share_slippage.ts";

/** Every model: each knows its settings by their keys. */
const MODELS: readonly ((slippage: Exclude<Slippage, 0>) => SlippageModel | null)[] = [
  (slippage) => "bps" in slippage ? new BpsSlippage(slippage) : null,
  (slippage) => "ticks" in slippage ? new TickSlippage(slippage) : null,
  (slippage) => "volumeShare" in slippage ? new VolumeShareSlippage(slippage) : null,
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
