/** Targets of some markets: the others are closed, or left alone where the targets are partial. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { BACKTEST } from "../support/client.ts";
import { serveMarkets } from "../support/made_markets.ts";

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

Deno.test("a market that is not named is closed, or left alone where targets are partial", async (t) => {
  const { user, endService } = await serveMarkets(SYMBOLS, { PYTHON: "on" });
  for (const [language, source] of [["typescript", SCRIPT], ["python", PYTHON]] as const) {
    await t.step(language, async () => {
      const parameters = { timeframe: "1h", instruments: INSTRUMENTS, runtime: { type: "script", language, source } };
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
});
