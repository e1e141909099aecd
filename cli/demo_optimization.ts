import type { Api, BacktestRequest, Optimization } from "./demo_client.ts";
import { drawProgress } from "./drawing.ts";
import { drawHeatMap } from "./heat_map.ts";
import { columnsOf, type Paint, print, say, wrap } from "./terminal.ts";

const POLL_MS = 100;
const TEXT_COLUMNS = 100;
const SPACE = { fast: { min: 4, max: 48, step: 4 }, slow: { min: 12, max: 144, step: 12 } };

/** Tries many parameters of a backtest, and draws the Sharpe ratio over them. @param request Its candles are hours at the finest. */
export async function demonstrateOptimization(api: Api, request: BacktestRequest, paint: Paint): Promise<void> {
  const { fast: _fast, slow: _slow, timeframe, ...parameters } = request.parameters ?? {};
  const { optimization: submitted } = await api.optimizations.create.mutate({
    optimization: {
      ...request,
      parameters: { ...parameters, timeframe: timeframe === "1m" ? "1h" : timeframe },
      space: SPACE,
      constraints: ["fast < slow"],
    },
  });
  const { id, status, trials, best, overfitting, error } = await follow(api, submitted, paint);
  const [first] = best;
  if (status !== "completed") throw new Error(`The optimization has ${status}: ${error?.message ?? "no reason given"}`);
  const speed = trials.per_second === null ? "" : `, ${Math.round(trials.per_second)} a second`;
  say(`${trials.done} trials${speed}\n`);
  if (first === undefined) return say("No trial has a Sharpe ratio: none of them traded.");
  const { surface } = await api.optimizations.surface.query({ id, x: "fast", y: "slow" });
  say(paint("bold", "Sharpe ratio, the fuller the higher, red below zero"));
  const columns = columnsOf();
  say(drawHeatMap(surface, paint, columns));
  const { fast, slow } = first.parameters;
  say(`\nThe best is ${first.objective.toFixed(2)}, with fast ${fast} and slow ${slow}.`);
  if (overfitting === null) return;
  for (const line of wrap(`How much of it is luck: ${overfitting.conclusion}`, Math.min(columns, TEXT_COLUMNS))) {
    say(line);
  }
}

async function follow(api: Api, submitted: Optimization, paint: Paint): Promise<Optimization> {
  let optimization = submitted;
  const isTerminal = Deno.stdout.isTerminal();
  while (optimization.status === "queued" || optimization.status === "running") {
    if (isTerminal) print(`\r${drawProgress(optimization.progress, paint)} ${optimization.status} `);
    await new Promise((wake) => setTimeout(wake, POLL_MS));
    ({ optimization } = await api.optimizations.get.query({ id: submitted.id }));
  }
  say(`${isTerminal ? "\r" : ""}${drawProgress(optimization.progress, paint)} ${optimization.status}`);
  return optimization;
}
