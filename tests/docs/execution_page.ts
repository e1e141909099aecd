/** The tables of types of orders and of models of slippage in docs/execution.md, from the engine's: `deno task docs` writes them. */
import { TYPE_RULES } from "../../engine/rules/orders/order_types.ts";
import type { SettingBounds } from "../../engine/rules/slippage/slippage_model.ts";
import { SLIPPAGE_KINDS } from "../../engine/rules/slippage/slippage_models.ts";
import { formatPage } from "./format_page.ts";

const PAGE = new URL("../../docs/execution.md", import.meta.url);
const ORDERS = "| Number | Type of orders | Names | Filled |";
const SLIPPAGES = "| Model | Values | Meaning |";

/** The page with a row for each type and model in place of its own. */
export async function renderExecutionPage(): Promise<string> {
  const page = await Deno.readTextFile(PAGE);
  const rows = TYPE_RULES.map(({ name, words, namesLimit, namesStop }, number) => {
    const prices = [...namesLimit ? ["a limit"] : [], ...namesStop ? ["a stop"] : []];
    return `| ${number} | \`${name}\` | ${prices.join(" and ") || "no price"} | ${words} |`;
  });
  const orders = [ORDERS, "| ---: | --- | --- | --- |", ...rows].join("\n");
  const models = SLIPPAGE_KINDS.map(({ settings, words }) => {
    const values = Object.values<SettingBounds>(settings).map(describe).join("; ");
    return `| \`{${Object.keys(settings).join(", ")}}\` | ${values} | ${words} |`;
  });
  const slippages = [SLIPPAGES, "| --- | --- | --- |", ...models].join("\n");
  return await formatPage(
    page.replace(/^\| Number +\| Type of orders.*?\n(?=\n)/ms, `${orders}\n`)
      .replace(/^\| Model +\| Values +\| Meaning.*?\n(?=\n)/ms, `${slippages}\n`),
  );
}

function describe({ isPositive, maximum }: SettingBounds): string {
  const most = maximum === 1e12 ? "1e12" : String(maximum);
  return isPositive ? `above 0, at most ${most}` : `0 to ${most}`;
}
