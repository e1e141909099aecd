import { expect } from "@std/expect";
import google from "../engine/parity/goog.csv" with { type: "text" };
import grid from "../engine/parity/sma_cross_grid.csv" with { type: "text" };
import type { TestClient } from "../support/client.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { INGESTION_SECRET } from "../support/service.ts";

/** The digits of the library's own sums. */
const TOLERANCE = 1e-9;

type Figures = Readonly<Record<string, number>>;

/**
 * backtesting.py's figures of its SmaCross on its sample of Google, commission 0.2 %: the grid of its user guide and that of its tests,
 * together. `exact`: its figures with averages that are rounded once, where its own, of running sums, give others.
 */
interface LibraryCell {
  readonly fast: number;
  readonly slow: number;
  readonly rolling: Figures;
  readonly exact: Figures | null;
}

function readGrid(): readonly LibraryCell[] {
  const [names = [], ...rows] = grid.trim().split("\n").map((line) => line.split(","));
  const cells = new Map<string, LibraryCell>();
  for (const [fast = "", slow = "", averages, ...figures] of rows) {
    const own = Object.fromEntries(figures.map((figure, k) => [names[k + 3]!, Number(figure)]));
    const key = `${fast} ${slow}`;
    const held = cells.get(key) ?? { fast: Number(fast), slow: Number(slow), rolling: own, exact: null };
    cells.set(key, averages === "exact" ? { ...held, exact: own } : held);
  }
  return [...cells.values()];
}

const valuesOf = (cells: readonly LibraryCell[], axis: "fast" | "slow") => [
  ...new Set(cells.map((cell) => cell[axis])),
];
const isNear = (got: number, want: number) => Math.abs(got - want) <= TOLERANCE * Math.abs(want);

/** Names of the library's figures that a trial does not have. */
function differing(metrics: Figures, figures: Figures): readonly string[] {
  return Object.entries(figures).filter(([name, want]) => !isNear(metrics[name] ?? NaN, want)).map(([name]) => name);
}

/** Optimizes as the library's user guide does, and compares every cell and the best ones. */
export async function compareLibraryGrid(user: TestClient): Promise<void> {
  const imported = await user.send(
    "POST",
    "/api/admin/ingestion/import?symbol=GOOG&exchange=NASDAQ&assetClass=stock&timeframe=1d",
    google,
    { "content-type": "text/csv", "x-ingestion-admin-secret": INGESTION_SECRET },
  );
  expect(imported.at("/imported")).toBe(2148);
  const cells = readGrid();
  const [fast, slow] = [valuesOf(cells, "fast"), valuesOf(cells, "slow")];
  const id = await submitOptimization(user, {
    ...{ symbol: "GOOG", exchange: "NASDAQ", start_date: "2004-08-19", end_date: "2013-03-02" },
    ...{ initial_balance: 10_000, objective: "final_equity", constraints: ["fast < slow"] },
    parameters: { timeframe: "1d", execution: { profile: "backtesting.py", commission: 0.002 } },
    space: { fast: { values: fast }, slow: { values: slow } },
  });
  const ended = await finishOptimization(user, id);
  expect([ended.at("/optimization/error"), ended.at("/optimization/points/constrained")]).toEqual([null, 38]);
  const trials = await readTrials(user, id);
  expect([trials.size, cells.length]).toEqual([274, 274]);

  const ours = cells.map((cell) => ({ ...cell, metrics: trials.get(`${cell.fast} ${cell.slow}`) ?? {} }));
  const unequal = ours.map(({ fast, slow, metrics, rolling, exact }) => ({
    cell: [fast, slow],
    differing: differing(metrics, exact ?? rolling),
  }));
  expect(unequal.filter(({ differing }) => differing.length > 0)).toEqual([]);
  // Where two averages meet exactly, the library's running sums lie 6e-14 apart, and it sees a cross.
  const roundedApart = ours.filter(({ metrics, rolling }) => differing(metrics, rolling).length > 0);
  expect(roundedApart.map(({ fast, slow }) => [fast, slow])).toEqual([[10, 12], [12, 26]]);

  // The user guide prints 10 and 15 as its best.
  expect(bestOf(ours, [5, 30, 5], [10, 70, 5])).toEqual([10, 15]);
  expect(bestOf(ours, [2, 20, 2], [10, 40, 2])).toEqual([10, 18]);
  expect(ended.at("/optimization/best/0")).toMatchObject({
    parameters: { fast: 12, slow: 15 },
    objective: expect.closeTo(102_781.61296, 5),
  });
}

/** The metrics of all trials, by their point. */
async function readTrials(user: TestClient, id: string): Promise<ReadonlyMap<string, Figures>> {
  const { text } = await user.get(`/api/optimizations/${id}/trials?format=csv`);
  const [names = [], ...rows] = text.trim().split("\n").map((line) => line.trim().split(","));
  const trials = rows.map((row): Figures => Object.fromEntries(row.map((cell, k) => [names[k]!, Number(cell)])));
  return new Map(trials.map((trial) => [`${trial["parameters.fast"]} ${trial["parameters.slow"]}`, trial]));
}

type Range = readonly [from: number, below: number, step: number];

/** The best point by final equity in a grid of the library, both ranges as Python counts them. */
function bestOf(
  ours: readonly { readonly fast: number; readonly slow: number; readonly metrics: Figures }[],
  fasts: Range,
  slows: Range,
): readonly number[] {
  const within = (value: number, [from, below, step]: Range) =>
    value >= from && value < below && (value - from) % step === 0;
  const [best] = ours.filter(({ fast, slow }) => within(fast, fasts) && within(slow, slows))
    .toSorted((a, b) => b.metrics["final_equity"]! - a.metrics["final_equity"]!);
  return [best?.fast ?? NaN, best?.slow ?? NaN];
}
