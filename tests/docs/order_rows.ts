/** The table of types of orders in docs/execution.md, from the engine's: `deno task docs` writes it. */
import { TYPE_RULES } from "../../engine/rules/orders/order_types.ts";
import { formatPage } from "./format_page.ts";

const PAGE = new URL("../../docs/execution.md", import.meta.url);
const HEAD = "| Number | Type of orders | Names | Filled |";

/** The page with a row for each type in place of its own. */
export async function renderExecutionPage(): Promise<string> {
  const page = await Deno.readTextFile(PAGE);
  const rows = TYPE_RULES.map(({ name, words, namesLimit, namesStop }, number) => {
    const prices = [...namesLimit ? ["a limit"] : [], ...namesStop ? ["a stop"] : []];
    return `| ${number} | \`${name}\` | ${prices.join(" and ") || "no price"} | ${words} |`;
  });
  const table = [HEAD, "| ---: | --- | --- | --- |", ...rows].join("\n");
  return await formatPage(page.replace(/^\| Number +\| Type of orders.*?\n(?=\n)/ms, `${table}\n`));
}

if (import.meta.main) await Deno.writeTextFile(PAGE, await renderExecutionPage());
