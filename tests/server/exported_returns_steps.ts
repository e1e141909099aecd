import { expect } from "@std/expect";
import type { Answer, TestClient } from "../support/client.ts";

/** Checks the exported daily returns of six trials over 31 days, and of the benchmark, against the figures of their optimization. */
export async function checkReturns(user: TestClient, ended: Answer): Promise<void> {
  const id = String(ended.at("/optimization/id"));
  const rows = (await user.get(`/api/optimizations/${id}/returns`)).list("/returns").map(Object);
  expect(rows.length).toBe(6 * 31);
  const number = ended.at("/optimization/best/0/number");
  const own = rows.filter((row) => row.number === number);
  expect(own.map(({ day }) => day)).toEqual(own.map((_, i) => i + 1));
  const returns = own.map((row) => row.return);
  const mean = returns.reduce((sum, each) => sum + each) / 31;
  const squares = returns.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  const best = Number(ended.at("/optimization/luck/best"));
  expect(mean / Math.sqrt(squares / 30) * Math.sqrt(365)).toBeCloseTo(best, 9);
  // The benchmark's come alike, and are what the second test takes off.
  const held = (await user.get(`/api/optimizations/${id}/returns?of=benchmark`)).list("/returns").map(Object);
  expect(held.map(({ number, day }) => [number, day])).toEqual(own.map(({ day }) => [0, day]));
  const rest = returns.map((each, i) => each - held[i].return);
  const lead = rest.reduce((sum, each) => sum + each) / 31;
  const spread = Math.sqrt(rest.reduce((sum, each) => sum + (each - lead) ** 2, 0) / 30);
  const against = Number(ended.at("/optimization/luck/against_benchmark/best"));
  expect(lead / spread * Math.sqrt(365)).toBeCloseTo(against, 9);
  expect((await user.get(`/api/optimizations/${id}/returns?of=trial`)).status).toBe(400);
  const csv = await fetch(`${user.url}/api/optimizations/${id}/returns?format=csv`, {
    headers: { cookie: user.cookie },
  });
  const lines = (await csv.text()).trim().split("\n");
  expect([lines[0], lines.length]).toEqual(["number,day,return", 6 * 31 + 1]);
  expect(lines[1]).toBe(`${rows[0].number},1,${rows[0].return}`);
  expect((await user.get(`/api/optimizations/${crypto.randomUUID()}/returns`)).status).toBe(404);
}
