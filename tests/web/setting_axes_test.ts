/** The settings that the form offers to vary, against those that the service takes. */
import { expect } from "@std/expect";
import { CANDLE_SETTINGS } from "../../research/candle_axes.ts";
import { EXECUTION_AXES } from "../../research/execution_axes.ts";
import { parseSpace } from "../../research/parse_space.ts";
import { withExecutionAxes } from "../../research/execution_axes.ts";
import { countSettings, NO_SETTINGS, SETTING_AXES, toSettingAxes } from "../../web/src/pages/optimize/setting_axes.ts";

Deno.test("the form offers every setting of a space, and its examples are values that the service takes", () => {
  expect(SETTING_AXES.map(({ name }) => name)).toEqual([...EXECUTION_AXES, ...CANDLE_SETTINGS]);
  const axes = toSettingAxes(SETTING_AXES.map(({ example }) => example));
  const ofExecution = Object.fromEntries(EXECUTION_AXES.map((name) => [name, axes[name]]));
  expect(parseSpace(ofExecution, withExecutionAxes({ type: "object", additionalProperties: false })).issues)
    .toBeUndefined();
  expect(axes["timeframe"]).toEqual({ values: ["1h", "4h", "1d"] });
});

Deno.test("an empty field varies nothing, and the values of others multiply", () => {
  expect([toSettingAxes(NO_SETTINGS), countSettings(NO_SETTINGS)]).toEqual([{}, 1]);
  const typed = NO_SETTINGS.with(0, "0, 0.001,").with(7, "true,false");
  expect(toSettingAxes(typed)).toEqual({
    "execution.commission": { values: [0, 0.001] },
    "execution.allowShort": { values: [true, false] },
  });
  expect(countSettings(typed)).toBe(4);
});
