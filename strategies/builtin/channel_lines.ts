import type { Candles } from "../../engine/candles.ts";
import { donchian } from "../../engine/indicators/donchian.ts";
import { type Line, priceLine } from "./builtin.ts";
import { type Parameters, readNumber } from "./parameter_schema.ts";

/** The edges of the channels of the parameters `entry` and `exit`. */
export function channelLines(parameters: Parameters, { high, low }: Candles): readonly Line[] {
  return ["entry", "exit"].flatMap((name) => {
    const { upper, lower } = donchian(high, low, readNumber(parameters, name));
    return [priceLine(`${name} high`, upper), priceLine(`${name} low`, lower)];
  });
}
