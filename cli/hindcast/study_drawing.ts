/** Studies of a backtest, as a person reads them. */
import type { Outputs } from "../../client/index.ts";
import { drawRows, formatMetric, formatShare, NONE } from "../drawing.ts";
import { wrap } from "../terminal.ts";
import type { Output } from "./command.ts";

export type StressTest = Outputs["stressTests"]["get"]["stress_test"];
/** A record, as the service answers it. */
export type MonteCarlo = Outputs["monteCarlo"]["get"]["monte_carlo"];

type Row = NonNullable<StressTest["result"]>["rows"][number];
type Sample = NonNullable<MonteCarlo["result"]>["samples"][number];
type FigureName = keyof Sample["figures"];

const LABELS: Readonly<Record<FigureName, string>> = {
  final_equity: "Final equity",
  max_drawdown: "Max drawdown",
  sharpe: "Sharpe",
  losing_streak: "Losing streak",
};
const FIGURES = ["final_equity", "max_drawdown", "sharpe", "losing_streak"] as const;
const QUANTILES = ["p05", "p25", "p50", "p75", "p95"] as const;

/** Draws the figures that worse costs, days and parameters leave of a backtest. */
export function drawStressTest({ id, status, result }: StressTest, { paint, columns }: Output): string {
  if (result === null) return `${id}  ${status}`;
  const { rows, regimes, break_even_cost: even, notes } = result;
  const drawn = rows.map(({ name, figures, error }) => [name, ...drawFigures(figures, error?.message)]);
  const parts = regimes.map(({ name, figures, days }) => [`${name} (${days} days)`, ...drawFigures(figures)]);
  const head = [" Net return", " Sharpe", " Drawdown", " Trades"];
  const cost = even === null
    ? "It has no profit that a commission could use up."
    : `A commission of ${(100 * even).toFixed(3)}% beside its own costs uses its profit up.`;
  return [
    drawRows(["Change", ...head], drawn, { paint, columns }),
    drawRows(["Days", ...head], parts, { paint, columns }),
    cost,
    ...notes.flatMap((note) => wrap(note, columns)),
  ].join("\n");
}

function drawFigures(figures: Row["figures"], failure = NONE): string[] {
  if (figures === null) return [failure, NONE, NONE, NONE];
  return [
    formatMetric("total_return", figures.total_return),
    formatMetric("sharpe", figures.sharpe),
    formatMetric("max_drawdown", figures.max_drawdown),
    formatMetric("trades", figures.trades),
  ];
}

/** Draws where the paths of a backtest end, and how often they lose. */
export function drawMonteCarlo({ id, status, method, runs, result }: MonteCarlo, output: Output): string {
  const head = `${output.paint("bold", `Monte Carlo, ${method}`)}  ${
    runs.toLocaleString("en-US")
  } paths\n${id}  ${status}`;
  if (result === null) return head;
  const samples = result.samples.flatMap((sample) => ["", ...drawSample(sample, output)]);
  return [head, ...samples, ...result.notes.flatMap((note) => ["", ...wrap(note, output.columns)])].join("\n");
}

function drawSample(sample: Sample, output: Output): string[] {
  const { sampling, figures, probability_of_loss: loss, probability_of_ruin: ruin } = sample;
  const rows = FIGURES.map((name) => {
    const { real, quantiles } = figures[name];
    return [
      LABELS[name],
      ...[real, ...QUANTILES.map((at) => quantiles?.[at] ?? null)].map((value) => show(name, value)),
    ];
  });
  return [
    output.paint("bold", sampling.replaceAll("_", " ")),
    drawRows(["Figure", " Real", " 5%", " 25%", " Median", " 75%", " 95%"], rows, output),
    `It loses on ${formatShare(loss)} of the paths, and is ruined on ${formatShare(ruin)}.`,
  ];
}

/** The figures by which two simulations are compared. */
export function compareSamples({ result }: MonteCarlo): [name: string, text: string][] {
  return (result?.samples ?? []).flatMap(
    ({ sampling, figures, probability_of_loss: loss, probability_of_ruin: ruin }) => {
      const medians = FIGURES.map((name): [string, string] => [
        `${sampling}: median ${LABELS[name].toLowerCase()}`,
        show(name, figures[name].quantiles?.p50 ?? null),
      ]);
      return [...medians, [`${sampling}: loses`, formatShare(loss)], [`${sampling}: is ruined`, formatShare(ruin)]];
    },
  );
}

function show(name: FigureName, value: number | null): string {
  return name !== "losing_streak" ? formatMetric(name, value) : value === null ? NONE : String(Math.round(value));
}
