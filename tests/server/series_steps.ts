/** The series that figures are computed from: each figure follows from them. */
import { expect } from "@std/expect";
import { tableFromIPC } from "apache-arrow";
import type { TestClient } from "../support/client.ts";

/** The rows of a series, which are the same in each format. */
async function readSeries(user: TestClient, path: string, name: string) {
  const rows = (await user.get(path)).list(`/${name}`).map(Object);
  const read = (format: string) => fetch(`${user.url}${path}?format=${format}`, { headers: { cookie: user.cookie } });
  const csv = (await (await read("csv")).text()).trim().split("\n");
  expect(csv.length).toBe(rows.length + 1);
  if (rows.length > 0) expect(csv[1]!.split(",").length).toBe(Object.keys(rows[0]).length);
  const arrow = tableFromIPC(new Uint8Array(await (await read("arrow")).arrayBuffer()));
  expect([arrow.numRows, arrow.schema.fields.map((field) => field.name)]).toEqual([
    rows.length,
    csv[0]!.split(","),
  ]);
  return rows;
}

/** Type 7 of Hyndman and Fan, the plain way. */
function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)]!;
  return low + (at - Math.floor(at)) * (sorted[Math.ceil(at)]! - low);
}

const QUANTILES = { p05: 0.05, p25: 0.25, p50: 0.5, p75: 0.75, p95: 0.95 };

/** All paths of a simulation, from which its quantiles and probabilities follow. */
export async function checkPaths(
  user: TestClient,
  { id, record: { runs, ruin_drawdown, result: { samples } } }: {
    readonly id: string;
    readonly record: ReturnType<typeof Object>;
  },
): Promise<void> {
  const paths = await readSeries(user, `/api/monte-carlo/${id}/paths`, "paths");
  const points = await readSeries(user, `/api/monte-carlo/${id}/curves`, "curves");
  expect(paths.length).toBe(runs * samples.length);
  for (const { sampling, figures, curves, probability_of_loss, probability_of_ruin } of samples) {
    const own = paths.filter((path) => path.sampling === sampling);
    expect(own.map(({ path }) => path)).toEqual(own.map((_, i) => i + 1));
    for (const name of ["final_equity", "max_drawdown", "sharpe", "losing_streak"]) {
      const values = own.map((path) => path[name]).filter((value) => value !== null);
      for (const [quantile, share] of Object.entries(QUANTILES)) {
        expect(quantileOf(values, share)).toBeCloseTo(figures[name].quantiles[quantile], 9);
      }
    }
    const initial = curves.real[0];
    const share = (counts: (path: ReturnType<typeof Object>) => boolean) => own.filter(counts).length / runs;
    expect(share(({ final_equity }) => final_equity < initial * (1 - 1e-9))).toBe(probability_of_loss);
    expect(share(({ max_drawdown }) => max_drawdown >= ruin_drawdown)).toBe(probability_of_ruin);
    for (const [i, position] of curves.positions.entries()) {
      const at = points.filter((point) => point.sampling === sampling && point.position === position);
      expect(at.length).toBe(runs);
      expect(quantileOf(at.map(({ equity }) => equity), 0.25)).toBeCloseTo(curves.p25[i], 6);
    }
  }
}

/** The splits of an optimization's trials, from which the figures of its cross-validation follow. */
export async function checkSplits(user: TestClient, { id, overfitting }: ReturnType<typeof Object>): Promise<void> {
  const splits = await readSeries(user, `/api/optimizations/${id}/splits`, "splits");
  if (overfitting.median_rank === null) return expect(splits).toEqual([]);
  expect(splits.length).toBe(12_870);
  const share = (counts: (split: ReturnType<typeof Object>) => boolean) => splits.filter(counts).length / 12_870;
  expect(share(({ rank }) => rank <= 0.5)).toBe(overfitting.overfitting_probability);
  expect(share(({ growth }) => growth < 0)).toBe(overfitting.loss_probability);
  expect(quantileOf(splits.map(({ rank }) => rank), 0.5)).toBeCloseTo(overfitting.median_rank, 12);
}

/** Every day of an account out of sample, from which its figures follow. */
export async function checkAccount(
  user: TestClient,
  { id, initial_balance, out_of_sample: account }: ReturnType<typeof Object>,
): Promise<void> {
  const days = await readSeries(user, `/api/optimizations/${id}/account`, "account");
  expect(days.length).toBe(account.days);
  expect(days.at(-1)).toMatchObject({ day: account.days, equity: account.final_equity });
  const marks = new Map(days.map(({ day, date, equity }) => [day, [date, equity]]));
  for (const { day, date, equity } of account.equity.slice(1)) expect(marks.get(day)).toEqual([date, equity]);
  const growth = days.reduce((product, day) => product * (1 + day.return), 1);
  expect(initial_balance * growth).toBeCloseTo(account.final_equity, 6);
  expect(growth - 1).toBeCloseTo(account.total_return, 9);
}
