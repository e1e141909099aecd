/** docs/metrics.md as the engine's definitions give it: `deno task docs` writes it, metrics_test.ts compares it. */
import { METRIC_DEFINITIONS, METRIC_NAMES, SAMPLES } from "../../engine/metrics/definitions.ts";
import { formatPage } from "./format_page.ts";
import { TOO_LARGE } from "../../engine/metrics/reasons.ts";

const HEAD = `# Metrics

\`result.metrics\` of a completed backtest holds these numbers. A metric without a value is \`null\`, and
\`result.undefined_metrics\` gives the reason under its name. Besides the reasons below, any metric may be "${TOO_LARGE}".

A mark is the account's equity at a candle's close: cash plus quantity x close. Money is in the currency in which the
instrument is quoted. A fraction of 0.01 is 1 %.

Daily returns compare the last mark of each trading day with that of the day before, the first with the initial balance.
They end with the day on which equity reaches zero. A trading day is one of the instrument's session (api.md, "Trading
sessions"): a day of UTC for crypto, from 17:00 New York for forex, a date of the exchange for stocks. A candle outside
of the session belongs to that date, or to the next one that is traded. Days without a candle do not count.

\`parameters.execution.periodsPerYear\` is the number of daily returns in a year: 252 for stocks, 260 for forex and 365
for crypto unless the request names another. Candles of a week give one return each, and then it is 52; those of a
month 12.
\`parameters.execution.riskFreeRate\` is a fraction per year, 0 unless the request names another.

The benchmark is the traded instrument, or the one that \`parameters.execution.benchmark\` names. Its daily returns are
those of its daily closes; candles longer than a day are compared with the benchmark's candles of that length. On a day
on which another instrument does not trade, its return is 0. The first day, and days beyond the benchmark's candles, are
left out of both.

A trade wins with a pnl above zero and loses with one below; a pnl of exactly zero is neither and ends a series of both.
pnl is net of fees and financing.

A metric has its name in requests and answers, then the one that the console, reports and the terminal show. "Better" says
which direction Compare stars, and what an optimization looks for that names no \`direction\`. Without it, a trader may
want the metric large or small, and such an objective needs a \`direction\`.

\`deno task docs\` writes this page from engine/metrics/definitions.ts.
`;

const escape = (cell: string) => cell.replaceAll("|", "\\|");
const titleOf = (sample: string) => `${sample[0]!.toUpperCase()}${sample.slice(1)}`;

function tableOf(sample: string): string {
  const rows = METRIC_NAMES.filter((name) => METRIC_DEFINITIONS[name].sample === sample).map((name) => {
    const { label, meaning, formula, unit, better, undefinedWhen } = METRIC_DEFINITIONS[name];
    return [`\`${name}\`, ${label}`, meaning, formula, unit, better ?? "", undefinedWhen.join("; ") || "never"];
  });
  const head = ["Metric", "Meaning", "Formula", "Unit", "Better", "Null when"];
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map(escape).join(" | ")} |`);
  return `## ${titleOf(sample)}\n\n${lines.join("\n")}\n`;
}

/** The page's text. */
export async function renderMetricsPage(): Promise<string> {
  return await formatPage([HEAD, ...Object.values(SAMPLES).map(tableOf)].join("\n"));
}
