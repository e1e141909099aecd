/** The pages that an agent may read. They are part of the program: a service may not read docs/ at run time. */
import api from "../../docs/api.md" with { type: "text" };
import execution from "../../docs/execution.md" with { type: "text" };
import metrics from "../../docs/metrics.md" with { type: "text" };
import research from "../../docs/research.md" with { type: "text" };
import strategies from "../../docs/strategies.md" with { type: "text" };
import python from "../../strategies/PYTHON.md" with { type: "text" };
import portfolios from "../../docs/portfolios.md" with { type: "text" };
import { ERRORS } from "../../routers/common/error_codes.ts";
import { findWords } from "../openapi/field_words.ts";
import scripts from "../../strategies/SCRIPTS.md" with { type: "text" };
import declaration from "../../strategies/scripts/strategy.d.ts" with { type: "text" };

/** By name: what each is for, and its text. */
export const PAGES: Readonly<Record<string, { readonly about: string; readonly text: string }>> = {
  "strategy.d.ts": {
    about: "everything that a TypeScript strategy may call: read it before you write one",
    text: declaration,
  },
  scripts: { about: "how to write a script, with examples", text: scripts },
  python: { about: "how to write a script in Python", text: python },
  portfolios: { about: "many markets with one account, and universes", text: portfolios },
  strategies: { about: "the built-in strategies, and how to register one", text: strategies },
  execution: { about: "every assumption about fills and costs", text: execution },
  metrics: { about: "the definition of every metric", text: metrics },
  research: { about: "optimization, walk-forward, and how much of a result is luck", text: research },
  api: { about: "the HTTP interface, its limits and errors", text: api },
};

/** A part of a page, or the meaning of a code. */
interface Passage {
  readonly page: string;
  readonly text: string;
}

/**
 * Codes, table rows and paragraphs that hold some words, in any spelling of spaces, hyphens and underscores: first what defines them,
 * then the shortest, and examples last.
 */
export function findPassages(asked: string): Passage[] {
  const words = asked.toLowerCase().split(/[\s_-]+/).filter((word) => word !== "");
  const pattern = words.map((word) => RegExp.escape(word)).join("[\\s_-]+");
  const phrase = new RegExp(`(?<![A-Za-z_])${pattern}(?![A-Za-z_])`, "i");
  return [...listCodes(), ...listParts()]
    .map((passage) => ({ ...passage, rank: rankOf(passage.text, words), isFound: phrase.test(passage.text) }))
    .filter(({ rank, isFound }) => isFound || rank < PROSE)
    .toSorted((one, two) => one.rank - two.rank || orderOf(one) - orderOf(two) || one.text.length - two.text.length)
    .map(({ page, text }) => ({ page, text }));
}

const PROSE = 3;

/** How well a part defines words: 0 its own row, 1 a row of a longer name, 2 a row of one of the words, then prose, then examples. */
function rankOf(text: string, words: readonly string[]): number {
  if (text.startsWith("```")) return PROSE + 1;
  const [cell = ""] = text.match(/^\| `[^|]*/) ?? [];
  const names = [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!.toLowerCase());
  const joined = words.join("_");
  if (names.includes(joined)) return 0;
  if (names.some((name) => `_${name}_`.includes(`_${joined}_`))) return 1;
  return names.some((name) => words.includes(name)) ? 2 : PROSE;
}

/** The page of metrics defines what others use. */
function orderOf({ page }: Passage): number {
  return page === "metrics" ? 0 : 1;
}

/** The codes of refusals, and those that runs end with. */
function listCodes(): Passage[] {
  const ends = [...(findWords(["error", "code"])?.text ?? "").matchAll(/^- `(\w+)`: (.*)$/gm)];
  const meanings = [
    ...ends.map(([, code, meaning]) => [code, `a run ends with it: ${meaning}`]),
    ...Object.entries(ERRORS).map(([code, { meaning }]) => [code, meaning]),
  ];
  return meanings.map(([code, meaning]) => ({ page: "api", text: `| \`${code}\` | ${meaning} |` }));
}

/** Rows of tables without their padding, paragraphs, and whole examples. */
function listParts(): Passage[] {
  return Object.entries(PAGES).flatMap(([page, { text }]) =>
    text.split(/(^```[^]*?^```$)/m).flatMap((part) => part.startsWith("```") ? [part] : part.split(/\n\s*\n|\n(?=\|)/))
      .map((part) => ({ page, text: part.startsWith("|") ? part.trim().replaceAll(/ {2,}/g, " ") : part.trim() }))
  );
}

/** The pages as a list for programs that read a site by its /llms.txt. */
export function listPages(): string {
  const links = Object.entries(PAGES).map(([name, { about }]) => `- [${name}](/pages/${name}): ${about}`);
  return `# Hindcast

> Backtests trading strategies on past candles: jobs over HTTP, strategies in any language, and a stated answer to how much of a
> result is luck.

Agents call the tools of the Model Context Protocol at /mcp, after its sign-in or with a token as \`Authorization: Bearer\`.
/openapi.json describes the HTTP interface.

## Pages

${links.join("\n")}
`;
}
