/** A universe is deleted while an optimization over it runs, and the worker dies: trials keep the members of the submission. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { startProcess } from "../support/process.ts";
import { until } from "../support/until.ts";

const SLUG = "short-lived";
const MEMBERS = ["ALDER@SAMPLE", "ASPEN@SAMPLE", "PINE@SAMPLE"];
const OPTIMIZATION = {
  symbol: "OAK",
  exchange: "SAMPLE",
  strategy: "Momentum Rotation",
  start_date: "2023-01-01",
  end_date: "2024-05-01",
  initial_balance: 10_000,
  parameters: { timeframe: "1d", universe: SLUG, filter: -1, every: "week" },
  space: { top: { values: [1, 2] }, lookback: { min: 5, max: 60, step: 1 } },
};

Deno.test("an optimization keeps its universe's members, whatever becomes of it and of its worker", async () => {
  const database = await createTestDatabase("service");
  const environment = { DATABASE_URL: database.url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
  const service = await startProcess("serve", { ...environment, WORKERS: "0" });
  const user = service.client();
  await user.signUp();
  expect((await user.send("POST", "/api/universes", universe(MEMBERS))).status).toBe(201);
  const ids = [
    await submitOptimization(user, OPTIMIZATION),
    await submitOptimization(user, { ...OPTIMIZATION, seed: 7 }),
  ];
  // A name that means other members, and then none.
  expect((await user.send("DELETE", `/api/universes/${SLUG}`)).status).toBe(204);
  expect((await user.send("POST", "/api/universes", universe(["OAK@SAMPLE"]))).status).toBe(201);

  const first = await startProcess("worker", environment);
  await begin(user, ids[0]!);
  await first.end("SIGKILL");
  expect((await user.send("DELETE", `/api/universes/${SLUG}`)).status).toBe(204);
  const second = await startProcess("worker", environment);
  for (const id of ids) {
    const ended = await finishOptimization(user, id);
    expect([ended.at("/optimization/status"), ended.at("/optimization/error")]).toEqual(["completed", null]);
    expect(ended.at("/optimization/trials")).toMatchObject({ failed: 0 });
    const [trial] = (await user.get(`/api/optimizations/${id}/trials?limit=1`)).list("/trials").map(Object);
    const made = await user.send("POST", `/api/optimizations/${id}/trials/${trial.number}/backtest`);
    expect([made.status, made.at("/error")]).toEqual([202, undefined]);
    const { result } = Object((await user.finish(String(made.at("/backtest/id")))).at("/backtest"));
    expect(result.portfolio.contributions.map(Object).map(({ instrument }: { instrument: string }) => instrument))
      .toEqual(MEMBERS);
    expect(JSON.stringify(result.metrics)).toBe(JSON.stringify(trial.metrics));
  }
  await second.end("SIGTERM");
  await service.end("SIGTERM");
  await database.drop();
});

function universe(ids: readonly string[]) {
  const members = ids.map((id) => ({ symbol: id.split("@")[0], exchange: "SAMPLE" }));
  return { universe: { slug: SLUG, members } };
}

/** Waits until a worker has the optimization. */
async function begin(user: TestClient, id: string): Promise<void> {
  await until(async () => (await user.get(`/api/optimizations/${id}`)).at("/optimization/status") !== "queued");
}
