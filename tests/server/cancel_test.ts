/** A cancel of an optimization or a Monte Carlo simulation ends its computing. */
import { expect } from "@std/expect";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { submitOptimization } from "../support/optimizations.ts";
import { listDescendants } from "../support/processes.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

// It takes a moment. Without an end, a call would last for its time of 60 s.
const END_MS_MAX = 45_000;

/** An endpoint that counts its calls, and can keep them waiting. */
function startEndpoint() {
  const leave = Promise.withResolvers<void>();
  let [calls, isHolding] = [0, false];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { asked } = await request.json();
    calls++;
    if (isHolding) await leave.promise;
    return Response.json({ version: 1, decisions: new Array(asked).fill([]) });
  });
  return {
    host: `127.0.0.1:${server.addr.port}`,
    countCalls: () => calls,
    /** Keeps the calls from now on waiting. */
    hold: () => isHolding = true,
    shutdown: async () => {
      leave.resolve();
      await server.shutdown();
    },
  };
}

type Endpoint = ReturnType<typeof startEndpoint>;

/** The sandboxes that may call an endpoint. Other tests of this process have sandboxes, too. */
function countCallers({ host }: Endpoint): number {
  return listDescendants(Deno.pid).filter(({ pid }) => {
    try {
      return Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(host);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  }).length;
}

/**
 * Submits, and cancels during a call of the endpoint: the process that calls must go, and none follow it.
 *
 * @returns The path of the record.
 */
async function cancelDuringCall(user: TestClient, endpoint: Endpoint, submit: () => Promise<string>): Promise<string> {
  const before = endpoint.countCalls();
  const path = await submit();
  await until(() => endpoint.countCalls() > before);
  expect(countCallers(endpoint)).toBe(1);
  expect((await user.send("POST", `${path}/cancel`)).status).toBe(202);
  await until(() => countCallers(endpoint) === 0, END_MS_MAX);
  // The only worker is free for another.
  const made = await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, fresh: true } });
  expect((await user.finish(made.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
  expect(countCallers(endpoint)).toBe(0);
  return path;
}

Deno.test({
  name: "a cancelled optimization or simulation computes nothing more, and its worker is free",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const endpoint = startEndpoint();
    const service = await startTestService("PostgreSQL", { REMOTE_ENDPOINT_ALLOW: endpoint.host });
    const user = await service.user();
    const runtime = { type: "remote", endpoint: `http://${endpoint.host}/`, timeoutMs: 60_000 };
    const remote = { strategy: "remote", parameters: { timeframe: "1h", runtime } };
    const completed = await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, ...remote } });
    const backtest_id = completed.at("/backtest/id");
    expect((await user.finish(backtest_id)).at("/backtest/status")).toBe("completed");
    endpoint.hold();

    const optimization = await cancelDuringCall(user, endpoint, async () => {
      const space = { level: { min: 1, max: 100, step: 1 } };
      return `/api/optimizations/${await submitOptimization(user, { ...remote, space })}`;
    });
    expect((await user.get(optimization)).at("/optimization")).toMatchObject({
      status: "cancelled",
      trials: { done: 0 },
    });

    const simulation = await cancelDuringCall(user, endpoint, async () => {
      const monte_carlo = { backtest_id, method: "candles", runs: 100 };
      return String((await user.send("POST", "/api/monte-carlo", { monte_carlo })).headers.get("location"));
    });
    expect((await user.get(simulation)).at("/monte_carlo")).toMatchObject({ status: "cancelled", result: null });
    await service.close();
    await endpoint.shutdown();
  },
});
