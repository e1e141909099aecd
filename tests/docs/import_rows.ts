/** The table of imports in docs/architecture.md, from the one that is enforced: `deno task docs` writes it. */
import { IMPORTS } from "../support/import_table.ts";
import { formatPage } from "./format_page.ts";

const PAGE = new URL("../../docs/architecture.md", import.meta.url);
const HEAD = "| Files of | May import of ours |";

/** The page with the rows of the enforced table in place of its own. */
export async function renderArchitecturePage(): Promise<string> {
  const page = await Deno.readTextFile(PAGE);
  const rows = IMPORTS.map(([from, to]) => `| \`${from}\` | ${to.map((each) => describe(each, from)).join(", ")} |`);
  const table = [HEAD, "| --- | --- |", ...rows].join("\n");
  return await formatPage(page.replace(/^\| Files of .*?\n(?=\n)/ms, `${table}\n`));
}

function describe(target: string, from: string): string {
  if (target === "*") return "everything";
  if (target === from) return "itself";
  return target.startsWith("types:") ? `types of \`${target.slice("types:".length)}\`` : `\`${target}\``;
}
