/** Walk-forward of users' code with one account over all tests, through the door that users take. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { finishOptimization, OPTIMIZATION, submitOptimization } from "../support/optimizations.ts";
import { startTestService } from "../support/service.ts";
import { backtestDays } from "../support/walk_forward.ts";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { EXAMPLES, readExample } from "./foreign_code.ts";

// Two windows: each training and each test of users' code starts a process.
const WALK = { train_days: 7, test_days: 12 };
const POINT = { fast: 5, slow: 20 };
const SPACE = { fast: { values: [POINT.fast] }, slow: { values: [POINT.slow] } };

await buildInterpreter();
const readScript = (path: string) => Deno.readTextFile(new URL(`../${path}`, EXAMPLES));
const RUNTIMES = [
  { type: "script", source: await readScript("scripts/sma_cross.ts") },
  { type: "script", language: "python", source: await readScript("scripts_python/sma_cross.py") },
  { type: "wasm", artifact: { content_base64: (await readExample("c/sma_cross.wasm")).toBase64() } },
];

async function walk(user: TestClient, runtime: object) {
  const parameters = { ...OPTIMIZATION.parameters, direction: "both", runtime };
  const own = { strategy: "own", parameters, space: SPACE, walk_forward: WALK };
  return Object((await finishOptimization(user, await submitOptimization(user, own))).at("/optimization"));
}

Deno.test("with one point, users' code carries its account as one continuous run does, to the last digit", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  for (const runtime of RUNTIMES) {
    await t.step(`a ${"language" in runtime ? runtime.language : runtime.type}`, async () => {
      const { walk_forward, windows, out_of_sample: found, error } = await walk(user, runtime);
      expect([error, walk_forward.carry, windows.length]).toEqual([null, true, 2]);
      expect(found).toMatchObject({ windows: 2, carried: true, stability: 1, undefined_figures: {} });
      const { metrics, days } = await backtestDays(user, {
        ...{ strategy: "own", parameters: { ...POINT, direction: "both", runtime } },
        ...{ start_date: windows[0].test_start, end_date: windows[1].test_end },
      });
      // With `both`, it is in the market at the edge between the tests.
      expect(metrics.trades).toBeGreaterThan(5);
      expect(JSON.stringify(found.equity.map(({ equity }: { equity: number }) => equity))).toBe(
        JSON.stringify([OPTIMIZATION.initial_balance, ...days]),
      );
      for (const name of ["total_return", "annual_volatility", "sharpe", "sortino", "exposure"]) {
        expect([name, found[name]]).toEqual([name, metrics[name]]);
      }
    });
  }
  await service.close();
});

Deno.test("an endpoint starts each test flat, and carrying its positions is refused with the reason", async () => {
  const endpoint = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { candles, asked } = await request.json();
    const hours: number[] = candles.time.slice(-asked).map((time: number) => time / 3_600_000);
    const decisions = hours.map((hour) => hour % 24 === 0 ? [{ side: "buy", when: "not_long" }] : []);
    return Response.json({ version: 1, decisions });
  });
  const host = `127.0.0.1:${endpoint.addr.port}`;
  const service = await startTestService("PostgreSQL", { REMOTE_ENDPOINT_ALLOW: host });
  const user = await service.user();
  const runtime = { type: "remote", endpoint: `http://${host}/`, timeoutMs: 60_000 };
  const { walk_forward, out_of_sample, windows, error } = await walk(user, runtime);
  expect([error, walk_forward.carry, windows.length, out_of_sample.carried]).toEqual([null, false, 2, false]);
  const parameters = { ...OPTIMIZATION.parameters, runtime };
  const asked = { ...OPTIMIZATION, parameters, space: SPACE, walk_forward: { ...WALK, carry: true } };
  const refused = await user.send("POST", "/api/optimizations", { optimization: asked });
  expect([refused.status, refused.at("/error/issues/0")]).toEqual([400, {
    path: "/optimization/walk_forward/carry",
    message: "cannot be true, because positions of endpoints are not carried: leave it out, and each test starts flat",
  }]);
  await service.close();
  await endpoint.shutdown();
});
