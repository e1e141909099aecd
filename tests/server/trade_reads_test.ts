/** One rule that reads its trades and fills, in each language, through the door that users take. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import type { TestClient } from "../support/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { startProcess } from "../support/process.ts";
import { compileAssemblyScript } from "../workers/sandbox/wasm/modules.ts";
import { EXAMPLES, RANGE, registration } from "./foreign_code.ts";

await buildInterpreter();

// Ten candles after a loss it enters again. Once a trade was 1 % ahead, its stop is at the entry, and its target stays.
const TYPESCRIPT = `strategy(() => ({
  decide(i, _candles, account, orders) {
    for (const { trade, tag, entryPrice, stopLoss, takeProfit, bestPrice } of orders.trades) {
      if (tag !== "in" || takeProfit === null) throw new Error("its tag and its target are gone");
      if (bestPrice > 1.01 * entryPrice && stopLoss !== entryPrice) orders.protect(trade, { stopLoss: entryPrice });
    }
    const [last] = account.closedTrades;
    const mayEnter = last === undefined || last.profit > 0 || i - last.exitIndex >= 10;
    if (account.quantity === 0 && mayEnter) orders.buy({ size: 0.5, sizeBy: "equity_fraction", stopLossFraction: 0.01, takeProfitFraction: 0.03, tag: "in" });
  },
  onFill({ side }) { const { log } = console; this.fills = (this.fills ?? 0) + 1; log(this.fills, side); },
  onClose({ exitReason }) { const { log } = console; log(exitReason); },
}));`;
const PYTHON = `class Careful(Strategy):
    def decide(self, i, candles, account, orders):
        for trade in orders.trades:
            if trade.tag != "in" or trade.take_profit is None:
                raise ValueError("its tag and its target are gone")
            if trade.best_price > 1.01 * trade.entry_price and trade.stop_loss != trade.entry_price:
                orders.protect(trade.trade, stop_loss=trade.entry_price)
        closed = account.closed_trades
        may_enter = not closed or closed[0].profit > 0 or i - closed[0].exit_index >= 10
        if account.quantity == 0 and may_enter:
            orders.buy(size=0.5, size_by="equity_fraction", stop_loss_fraction=0.01, take_profit_fraction=0.03, tag="in")

    fills = None

    def on_fill(self, fill):
        self.fills = (self.fills or 0) + 1
        print(self.fills, fill.side)

    def on_close(self, trade):
        print(trade.exit_reason)
`;
const ASSEMBLYSCRIPT = `import { buy, detailsAt, fillAt, frame, moveStopLoss, play, Strategy } from "./hindcast";
export { abi_version, alloc, init, on_candle } from "./hindcast";

class Careful extends Strategy {
  profit: f64 = 1;
  exitIndex: i32 = 0;

  constructor() {
    super();
    frame.tradesMax = 8;
    frame.fillsMax = 8;
    frame.hasDetails = 1;
  }

  decide(): void {
    for (let n: u32 = 0; n < frame.fillsCount; n++) {
      const fill = fillAt(n);
      if (fill.reason < 0) continue;
      this.profit = fill.profit;
      this.exitIndex = fill.index;
    }
    for (let n: u32 = 0; n < frame.tradesCount; n++) {
      const trade = load<i32>(frame.trades + 24 * n), entryPrice = load<f64>(frame.trades + 24 * n + 16);
      const details = detailsAt(n);
      assert(details.tagLength == 2 && details.takeProfit > 0, "its tag and its target are gone");
      if (details.bestPrice > 1.01 * entryPrice && details.stopLoss != entryPrice) moveStopLoss(trade, entryPrice);
    }
    const mayEnter = this.profit > 0 || <i32> frame.count - 1 - this.exitIndex >= 10;
    if (frame.quantity == 0 && mayEnter) {
      const order = buy();
      order.sizeBy = 2;
      order.size = 0.5;
      order.guard(0.01, 0.03).tagged("in");
    }
  }
}

play(() => new Careful());
`;

interface Asked {
  readonly run_id: string;
  readonly first_asked: number;
  readonly account: { readonly quantity: number };
  readonly open_trades: readonly {
    readonly trade: number;
    readonly tag: string;
    readonly entry_price: number;
    readonly stop_loss: number;
    readonly take_profit: number | null;
    readonly best_price: number;
  }[];
  readonly fills: readonly { readonly index: number; readonly closed: { readonly profit: number } | null }[];
}

/** Serves the rule. A request may be sent again, so it remembers every trade that was closed. */
function startEndpoint(): Deno.HttpServer<Deno.NetAddr> {
  const closed = new Map<string, Map<number, number>>();
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { run_id, first_asked: i, account, open_trades, fills }: Asked = await request.json();
    const known = closed.get(run_id) ?? new Map<number, number>();
    closed.set(run_id, known);
    for (const { index, closed } of fills) if (closed !== null) known.set(index, closed.profit);
    const [exit, profit] = [...known].filter(([index]) => index <= i).at(-1) ?? [0, 1];
    const moved = open_trades.filter(({ tag, take_profit, best_price, entry_price, stop_loss }) => {
      if (tag !== "in" || take_profit === null) throw new Error("its tag and its target are gone");
      return best_price > 1.01 * entry_price && stop_loss !== entry_price;
    });
    const entry = {
      side: "buy",
      size: 0.5,
      size_by: "equity_fraction",
      stop_loss_fraction: 0.01,
      take_profit_fraction: 0.03,
      tag: "in",
    };
    const enters = account.quantity === 0 && (profit > 0 || i - exit >= 10);
    return Response.json({
      version: 1,
      decisions: [[
        ...moved.map(({ trade, entry_price }) => ({ action: "protect", trade, stop_loss: entry_price })),
        ...(enters ? [entry] : []),
      ]],
    });
  });
}

async function tradesOf(user: TestClient, strategy: string, parameters: object) {
  const submitted = await user.send("POST", "/api/backtests", {
    backtest: { ...RANGE, strategy, parameters: { timeframe: "1h", ...parameters } },
  });
  expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
  const id = submitted.at("/backtest/id");
  const done = await user.finish(id);
  expect([done.at("/backtest/status"), done.at("/backtest/error")]).toEqual(["completed", null]);
  const trades = (await user.get(`/api/backtests/${id}/trades?limit=200`)).list("/trades");
  return { trades, log: (await user.get(`/api/backtests/${id}/log`)).at("/log") };
}

Deno.test("a rule that reads its trades and fills trades the same in each language, registered and submitted", async (t) => {
  const endpoint = startEndpoint();
  const { hostname, port } = endpoint.addr;
  const database = await createTestDatabase("service");
  const service = await startProcess("serve", {
    DATABASE_URL: database.url,
    BETTER_AUTH_SECRET: "a secret of at least 32 characters",
    REMOTE_ENDPOINT_ALLOW: `${hostname}:${port}`,
  });
  const user = service.client();
  await user.signUp();
  const header = await Deno.readTextFile(new URL("assemblyscript/hindcast.ts", EXAMPLES));
  const module = await compileAssemblyScript(ASSEMBLYSCRIPT, { "hindcast.ts": header });
  const runtimes = {
    typescript: { type: "script", source: TYPESCRIPT },
    python: { type: "script", language: "python", source: PYTHON },
    module: { type: "wasm", artifact: { content_base64: module.toBase64() } },
    endpoint: { type: "remote", endpoint: `http://${hostname}:${port}/`, mode: "step" },
  };
  const expected = await tradesOf(user, "draft", { runtime: runtimes.typescript });
  const reasons = expected.trades.map((trade) => Reflect.get(Object(trade), "exit_reason"));
  expect(new Set(reasons)).toEqual(new Set(["stop_loss", "take_profit", null]));
  expect(expected.log).toContain("take_profit");
  for (const [name, runtime] of Object.entries(runtimes)) {
    await t.step(name, async () => {
      const strategy = { ...registration(`careful-${name}`, runtime), parameter_schema: { type: "object" } };
      const language = name === "python" ? "python" : "any";
      const created = await user.send("POST", "/api/strategies", { strategy: { ...strategy, language } });
      expect([created.status, created.at("/error")]).toEqual([201, undefined]);
      for (const parameters of [{}, { runtime }]) {
        const { trades, log } = await tradesOf(user, `careful-${name}`, parameters);
        expect(trades).toEqual(expected.trades);
        if (runtime.type === "script") expect(log).toEqual(expected.log);
      }
    });
  }
  await service.end("SIGINT");
  await database.drop();
  await endpoint.shutdown();
});
