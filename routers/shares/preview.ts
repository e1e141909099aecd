/** The words and curves of a link's page, for messengers that show a preview of it. */
import type { Db } from "../../db/client.ts";
import { readSharedOptimization, readSharedRuns } from "../../db/shares.ts";
import { writePercent, writeRatio } from "../../research/luck/figures.ts";
import { defaultName } from "../backtests/backtest_records.ts";
import type { Link } from "../common/link.ts";

/** A preview of what a link shows. */
export interface LinkPreview {
  readonly title: string;
  readonly description: string;
  /** Of each run, its equity as a fraction of the initial balance, evenly spread over its range; none of an optimization. */
  readonly curves: readonly (readonly number[])[];
}

type SharedRun = Awaited<ReturnType<typeof readSharedRuns>>[number];

/** The preview of a link; null where what it shows was deleted meanwhile. */
export async function readPreview(db: Db, { kind, ownerId, ids }: Link): Promise<LinkPreview | null> {
  if (kind === "optimization") {
    const found = await readSharedOptimization(db, ownerId, ids[0] ?? "");
    if (found === undefined) return null;
    const { name, strategy, symbol, trials } = found;
    const title = `Optimization: ${name ?? strategy} on ${symbol}`;
    return { title, description: `${trials} trials. ${describeRange(found)}`, curves: [] };
  }
  const runs = await readSharedRuns(db, ownerId, ids);
  const [first] = runs;
  if (first === undefined) return null;
  const curves = runs.map(({ sparkline }) => sparkline ?? []).filter((curve) => curve.length > 1);
  if (kind === "backtest") return { title: titleOf(first), description: describeRun(first), curves };
  const titles = [...new Set(runs.map(titleOf))];
  return { title: `Comparison of ${runs.length} runs`, description: `${titles.join("; ")}.`, curves };
}

function titleOf(run: SharedRun): string {
  return `${run.name ?? defaultName(run)} on ${run.symbol}`;
}

function describeRun(run: SharedRun): string {
  const { totalReturn, sharpe, maxDrawdown, trades } = run;
  const figures = [
    ["Net return", percent(totalReturn)],
    ["Sharpe", sharpe === null ? undefined : writeRatio(sharpe)],
    ["deepest drawdown", percent(maxDrawdown)],
    ["trades", trades?.toString()],
  ].flatMap(([label, value]) => value === undefined ? [] : [`${label} ${value}`]);
  return `${figures.join(", ")}. ${describeRange(run)}`;
}

function describeRange(
  { strategy, symbol, exchange, startDate, endDate }: Pick<
    SharedRun,
    "strategy" | "symbol" | "exchange" | "startDate" | "endDate"
  >,
): string {
  return `${strategy} on ${symbol}, ${exchange}, ${startDate} to ${endDate}. A simulation of the past.`;
}

function percent(fraction: number | null): string | undefined {
  return fraction === null ? undefined : writePercent(fraction);
}
