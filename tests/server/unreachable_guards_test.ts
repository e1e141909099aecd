/** A stop or a target that no price reaches is said in a run's notes, in each kind of code, over HTTP. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import type { TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { compileAssemblyScript } from "../workers/sandbox/wasm/modules.ts";
import { EXAMPLES, RANGE } from "./foreign_code.ts";

await buildInterpreter();
const SAID =
  "that no price reaches: a fraction of 5 puts it at 0 or below. Fractions are parts of the price: 5% is 0.05";

const script = (order: string) => ({
  type: "script",
  source: `strategy(() => ({ decide(i, candles, account, orders) { if (account.quantity === 0) ${order}; } }));`,
});
const CONFIGS: Readonly<Record<string, readonly [config: object, note: string]>> = {
  "a stop loss": [script("orders.buy({ stopLossFraction: 5 })"), `A trade has a stop loss ${SAID}`],
  "a trailing stop": [script("orders.buy({ trailFraction: 5 })"), `A trade has a trailing stop ${SAID}`],
  "a target of a short": [script("orders.sell({ size: 0.01, takeProfitFraction: 5 })"), `A trade has a target ${SAID}`],
  "several": [
    script("orders.buy({ stopLossFraction: i < 3 ? 5 : 7, timeStopCandles: 10 })"),
    `9 trades have a stop loss ${SAID}`,
  ],
  "a class in Python": [{
    type: "script",
    language: "python",
    source: `class Buys(Strategy):
    def decide(self, i, candles, account, orders):
        if account.quantity == 0:
            orders.buy(stop_loss_fraction=5)
`,
  }, `A trade has a stop loss ${SAID}`],
};
const REACHED = [
  "orders.buy({ stopLossFraction: 0.99 })",
  "orders.sell({ size: 0.01, stopLossFraction: 5 })",
  "orders.buy({ takeProfitFraction: 5 })",
  "orders.buy({ stopLossFraction: 5, stopLoss: 1 })",
  "orders.buy({ trailFraction: 5, trailDistance: 100 })",
];

/** Registers a strategy and runs it. @returns The notes of its result. */
async function notesOf(user: TestClient, slug: string, config: object, more: object = {}): Promise<readonly unknown[]> {
  const made = await user.send("POST", "/api/strategies", {
    strategy: {
      ...{ slug, name: slug, runtime_type: Object(config).type, language: "any" },
      initial_version: { runtime_config: config },
    },
  });
  expect([made.status, made.at("/error")]).toEqual([201, undefined]);
  const backtest = { ...RANGE, strategy: slug, parameters: { timeframe: "1d", ...more } };
  const sent = await user.send("POST", "/api/backtests", { backtest });
  expect([sent.status, sent.at("/error")]).toEqual([202, undefined]);
  const ended = await user.finish(sent.at("/backtest/id"));
  expect([ended.at("/backtest/status"), ended.at("/backtest/error")]).toEqual(["completed", null]);
  return ended.list("/backtest/result/notes");
}

Deno.test("a guard that no price reaches is a note of the result", async (t) => {
  const endpoint = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const { asked } = await request.json();
    const buy = [{ side: "buy", when: "flat", stop_loss_fraction: 5 }];
    return Response.json({ version: 1, decisions: Array.from({ length: asked }, () => buy) });
  });
  const { port } = endpoint.addr;
  const service = await startTestService("PostgreSQL", { PYTHON: "on", REMOTE_ENDPOINT_ALLOW: `127.0.0.1:${port}` });
  const user = await service.user();
  const bindings = { "hindcast.ts": await Deno.readTextFile(new URL("assemblyscript/hindcast.ts", EXAMPLES)) };
  const module = await compileAssemblyScript(
    `import { buy, frame, play, Strategy } from "./hindcast";
export { abi_version, alloc, init, on_candle } from "./hindcast";
class Buys extends Strategy {
  decide(): void {
    if (frame.quantity == 0) buy().guard(5, 0);
  }
}
play(() => new Buys());
`,
    bindings,
  );
  const all: typeof CONFIGS = {
    ...CONFIGS,
    "an endpoint": [{ type: "remote", endpoint: `http://127.0.0.1:${port}/` }, `A trade has a stop loss ${SAID}`],
    "a module": [
      { type: "wasm", artifact: { content_base64: module.toBase64() } },
      `A trade has a stop loss ${SAID}`,
    ],
  };
  let n = 0;
  for (const [name, [config, note]] of Object.entries(all)) {
    await t.step(name, async () => expect(await notesOf(user, `guarded-${n++}`, config)).toContain(note));
  }
  for (const order of REACHED) {
    await t.step(order, async () => {
      expect(JSON.stringify(await notesOf(user, `reached-${n++}`, script(order)))).not.toContain("no price reaches");
    });
  }
  await t.step("many markets", async () => {
    const instruments = ["DEMO", "STOCK"].map((symbol) => ({ symbol, exchange: "SAMPLE" }));
    const notes = await notesOf(user, "guarded-many", script("orders.buy({ stopLossFraction: 5 })"), { instruments });
    expect(notes).toContain(`2 trades have a stop loss ${SAID}`);
  });
  await service.close();
  await endpoint.shutdown();
});
