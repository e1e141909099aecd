/** The settings of a run that an optimization may vary beside its strategy's parameters, as they are typed: values with commas. */

/** In the order of the form. */
export const SETTING_AXES = [
  { name: "execution.commission", label: "Commission rate", example: "0, 0.0005, 0.001" },
  { name: "execution.spread", label: "Spread", example: "0, 0.0002" },
  { name: "execution.slippage.bps", label: "Slippage in basis points", example: "0, 1, 5" },
  { name: "execution.delay", label: "Delay in candles", example: "0, 1" },
  { name: "execution.leverage", label: "Leverage", example: "1, 2" },
  { name: "execution.fill", label: "Fill of market orders", example: "next_open, close" },
  { name: "execution.limitFill", label: "Fill of limit orders", example: "touch, penetrate" },
  { name: "execution.allowShort", label: "Short positions", example: "true, false" },
  { name: "start_date", label: "Varied start", example: "2020-01-01, 2021-07-01" },
  { name: "end_date", label: "Varied end", example: "2024-01-01, 2025-01-01" },
  { name: "timeframe", label: "Varied timeframe", example: "1h, 4h, 1d" },
] as const;

/** The words for an axis: a setting's label, or a parameter's own name. */
export function settingLabel(name: string): string {
  return SETTING_AXES.find((axis) => axis.name === name)?.label ?? name;
}

/** The texts of a form where nothing is typed. */
export const NO_SETTINGS: readonly string[] = SETTING_AXES.map(() => "");

/** The axes of a space, of the settings for which something is typed. @param typed By the order of the form. */
export function toSettingAxes(typed: readonly string[]): Readonly<Record<string, { values: unknown[] }>> {
  return Object.fromEntries(SETTING_AXES.flatMap(({ name }, i) => {
    const values = valuesOf(typed[i] ?? "");
    return values.length === 0 ? [] : [[name, { values }]];
  }));
}

/** How many combinations the typed values make. */
export function countSettings(typed: readonly string[]): number {
  return typed.reduce((count, text) => count * Math.max(1, valuesOf(text).length), 1);
}

function valuesOf(typed: string): (string | number | boolean)[] {
  return typed.split(",").map((each) => each.trim()).filter((each) => each !== "").map((each) => {
    if (each === "true" || each === "false") return each === "true";
    return Number.isFinite(Number(each)) ? Number(each) : each;
  });
}
