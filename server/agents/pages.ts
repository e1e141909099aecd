/** The pages that an agent may read. They are part of the program: a service may not read docs/ at run time. */
import api from "../../docs/api.md" with { type: "text" };
import execution from "../../docs/execution.md" with { type: "text" };
import metrics from "../../docs/metrics.md" with { type: "text" };
import research from "../../docs/research.md" with { type: "text" };
import strategies from "../../docs/strategies.md" with { type: "text" };
import python from "../../strategies/PYTHON.md" with { type: "text" };
import portfolios from "../../docs/portfolios.md" with { type: "text" };
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

/** Paragraphs and table rows of all pages that hold a word: the rows that define it first, then the shortest. */
export function findPassages(word: string): { readonly page: string; readonly text: string }[] {
  const pattern = new RegExp(`(?<![A-Za-z_])${RegExp.escape(word)}(?![A-Za-z_])`, "i");
  const rank = (text: string) => text.toLowerCase().startsWith(`| \`${word.toLowerCase()}\``) ? 0 : 1;
  return Object.entries(PAGES).flatMap(([page, { text }]) =>
    text.split(/\n\s*\n|\n(?=\|)/).filter((part) => pattern.test(part)).map((part) => ({ page, text: part.trim() }))
  ).toSorted((one, two) => rank(one.text) - rank(two.text) || one.text.length - two.text.length);
}

/** The pages as a list for programs that read a site by its /llms.txt. */
export function listPages(): string {
  const links = Object.entries(PAGES).map(([name, { about }]) => `- [${name}](/pages/${name}): ${about}`);
  return `# Hindcast

> Backtests trading strategies on past candles: jobs over HTTP, strategies in any language, and a stated answer to how much of a
> result is luck.

Agents call the tools of the Model Context Protocol at /mcp with a token as \`Authorization: Bearer\`. /openapi.json describes the HTTP
interface.

## Pages

${links.join("\n")}
`;
}
