/** Targets of some markets: the others are closed, or left alone where the targets are partial. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { BACKTEST } from "../support/client.ts";
import { serveMarkets } from "../support/made_markets.ts";
import { compileWat, strategyWat } from "../workers/sandbox/wasm/modules.ts";

await buildInterpreter();
const SYMBOLS = ["AAA", "BBB", "CCC"];
const INSTRUMENTS = SYMBOLS.map((symbol) => ({ symbol, exchange: "LAB" }));
const REQUEST = { ...BACKTEST, symbol: "AAA", exchange: "LAB", start_date: "2024-01-02", end_date: "2024-01-07" };
/** On the third day CCC is added; on the fifth, it alone is named. */
const SCRIPT = `portfolio(() => ({ every: "day", decide(now, markets, account, orders) {
  const { day } = utc(now);
  if (day === 2) orders.target({ AAA: 0.3, "BBB@LAB": 0.3 });
  if (day === 3) orders.target({ CCC: 0.3 }, { partial: true });
  if (day === 5) orders.target({ CCC: markets.of("CCC").weight }, { minTrade: 0.05 });
} }));`;
const PYTHON = `class Partial(Portfolio):
    every = "day"

    def decide(self, now, markets, account, orders):
        day = utc(now).day
        if day == 2: orders.target({"AAA": 0.3, "BBB@LAB": 0.3})
        if day == 3: orders.target({"CCC": 0.3}, partial=True)
        if day == 5: orders.target({"CCC": markets.of("CCC").weight}, min_trade=0.05)
`;
/** Days since 1970 of the three decisions. */
const [SECOND, THIRD, FIFTH] = [2, 3, 5].map((day) => Date.UTC(2024, 0, day) / 86_400_000);
/** Each row of a market has 80 bytes: its weight at 56, its target at 64, and at 72 that it is left alone. */
const MODULE = strategyWat({
  after: `(func (export "every") (result i32) (i32.const 1))
    (func (export "on_markets") (param $frame i32) (param $markets i32) (result i32) (local $row i32) (local $day i32)
      (local.set $row (i32.load offset=4 (local.get $markets)))
      (local.set $day (i32.trunc_f64_s (f64.div (f64.load offset=8 (local.get $markets)) (f64.const 86400000))))
      (i32.store offset=24 (local.get $markets) (i32.or (i32.or
        (i32.eq (local.get $day) (i32.const ${SECOND})) (i32.eq (local.get $day) (i32.const ${THIRD})))
        (i32.eq (local.get $day) (i32.const ${FIFTH}))))
      (if (i32.eq (local.get $day) (i32.const ${SECOND})) (then
        (f64.store offset=64 (local.get $row) (f64.const 0.3))
        (f64.store offset=144 (local.get $row) (f64.const 0.3))))
      (if (i32.eq (local.get $day) (i32.const ${THIRD})) (then
        (i32.store offset=72 (local.get $row) (i32.const 1))
        (i32.store offset=152 (local.get $row) (i32.const 1))
        (f64.store offset=224 (local.get $row) (f64.const 0.3))))
      (if (i32.eq (local.get $day) (i32.const ${FIFTH})) (then
        (f64.store offset=16 (local.get $markets) (f64.const 0.05))
        (f64.store offset=224 (local.get $row) (f64.load offset=216 (local.get $row)))))
      (i32.const 0))`,
});

interface MarketsRequest {
  readonly now: number;
  readonly markets: readonly { readonly weight: number }[];
}

/** The same as an endpoint. */
function answer({ now, markets }: MarketsRequest): object {
  switch (Math.floor(now / 86_400_000)) {
    case SECOND:
      return { version: 2, targets: { AAA: 0.3, "BBB@LAB": 0.3 } };
    case THIRD:
      return { version: 2, targets: { CCC: 0.3 }, partial: true };
    case FIFTH:
      return { version: 2, targets: { CCC: markets[2]!.weight }, min_trade: 0.05 };
    default:
      return { version: 2 };
  }
}

Deno.test("a market that is not named is closed, or left alone where targets are partial", async (t) => {
  const endpoint = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => Response.json(answer(await request.json())),
  );
  const host = `127.0.0.1:${endpoint.addr.port}`;
  const { user, endService } = await serveMarkets(SYMBOLS, { PYTHON: "on", REMOTE_ENDPOINT_ALLOW: host });
  const runtimes = {
    typescript: { type: "script", language: "typescript", source: SCRIPT },
    python: { type: "script", language: "python", source: PYTHON },
    module: { type: "wasm", artifact: { content_base64: compileWat(MODULE).toBase64() } },
    endpoint: { type: "remote", endpoint: `http://${host}/`, mode: "portfolio", every: "day" },
  };
  for (const [kind, runtime] of Object.entries(runtimes)) {
    await t.step(kind, async () => {
      const parameters = { timeframe: "1h", instruments: INSTRUMENTS, runtime };
      const made = await user.send("POST", "/api/backtests", {
        backtest: { ...REQUEST, strategy: "mine", parameters },
      });
      expect([made.status, made.at("/error")]).toEqual([202, undefined]);
      const record = Object((await user.finish(String(made.at("/backtest/id")))).at("/backtest"));
      expect([record.status, record.error]).toEqual(["completed", null]);
      const trades = (await user.get(`/api/backtests/${record.id}/trades`)).list("/trades").map(Object);
      // Asked at 01:00, the first close of a day; filled at the open that follows.
      expect(trades.map(({ instrument, entry_time, exit_time }) => [instrument, entry_time, exit_time])).toEqual([
        ["AAA@LAB", "2024-01-02T01:00:00.000Z", "2024-01-05T01:00:00.000Z"],
        ["BBB@LAB", "2024-01-02T01:00:00.000Z", "2024-01-05T01:00:00.000Z"],
        ["CCC@LAB", "2024-01-03T01:00:00.000Z", null],
      ]);
    });
  }
  await endService();
  await endpoint.shutdown();
});
