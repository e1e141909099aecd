/**
 * Writes the files that follow from the settings: the list of variables that deno.json's tasks may read, and the table of
 * settings in the documentation. Run it with `deno task generate`; a test compares the files with the code.
 */
import { SETTINGS, VARIABLES } from "./config.ts";

const TABLE_START = "<!-- The table is written by `deno task generate` from server/config.ts. -->\n\n";
const TABLE_END = "\n<!-- End of the table of settings. -->";

/** Paths in the repository, and how to bring each file's text up to date. */
export const SETTINGS_FILES: Readonly<Record<string, (text: string) => string>> = {
  "server/variables.txt": () => `${VARIABLES.join(",")}\n`,
  "docs/operating.md": replaceTable,
};

function replaceTable(page: string): string {
  const start = page.indexOf(TABLE_START);
  const end = page.indexOf(TABLE_END);
  if (start < 0 || end < start) {
    throw new Error(`Cannot find the table of settings: keep the line ${TABLE_START.trim()}`);
  }
  return page.slice(0, start) + TABLE_START + writeTable() + page.slice(end);
}

/** The table as `deno fmt` writes it. */
function writeTable(): string {
  const rows = [
    ["Variable", "Default", "Meaning"],
    ...SETTINGS.map(({ variable, defaultText, description }) => [`\`${variable}\``, defaultText, description]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |\n`;
  const [header = [], ...body] = rows;
  return [header, widths.map((width) => "-".repeat(width)), ...body].map(line).join("");
}

if (import.meta.main) {
  for (const [path, update] of Object.entries(SETTINGS_FILES)) {
    const file = new URL(`../${path}`, import.meta.url);
    const text = await Deno.readTextFile(file).catch(() => "");
    await Deno.writeTextFile(file, update(text));
  }
}
