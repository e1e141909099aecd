/** Equal submissions get the stored result, and a result says when its candles were revised. */
import { expect } from "@std/expect";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

const LOG = "console.log";
const script = (warmup: number) =>
  `strategy(() => ({
  warmup: ${warmup},
  decide(i, _, account, orders) {
    if (i % 7 === 0 && account.quantity === 0) { ${LOG}("buys at " + i); orders.buy({}); }
    else if (i % 7 === 4) orders.close();
  },
}));`;

/** Fourteen days of January; the close of the fifth may differ. */
const file = (fifth = 5) =>
  ["date,open,high,low,close,volume"].concat(
    Array.from({ length: 14 }, (_, day) => {
      const close = day === 4 ? fifth : 10 + day;
      return `2024-01-${String(day + 1).padStart(2, "0")},${close},${close + 1},${close - 1},${close},1`;
    }),
  ).join("\n") + "\n";

Deno.test("an equal submission gets the stored result, and never a stale one or another user's", async (t) => {
  const service = await startTestService();
  const [user, stranger] = [await service.user(), await service.user()];
  const run = async (client: TestClient, change: object = {}) => {
    const made = await client.send("POST", "/api/backtests", { backtest: { ...BACKTEST, ...change } });
    expect([made.status, made.at("/error")]).toEqual([202, undefined]);
    expect([made.at("/backtest/reused_from"), made.at("/backtest/stale")]).toEqual([null, false]);
    const id = String(made.at("/backtest/id"));
    expect(made.headers.get("location")).toBe(`/api/backtests/${id}`);
    const record = Object((await client.finish(id)).at("/backtest"));
    expect([record.id, record.status, record.error]).toEqual([id, "completed", null]);
    return record;
  };
  const read = async (client: TestClient, { id }: { readonly id: string }) =>
    await Promise.all(
      ["trades", "orders", "equity?format=csv", "log"].map(async (part) =>
        (await client.get(`/api/backtests/${id}/${part}`)).text
      ),
    );

  await t.step("two equal submissions are two records with one result", async () => {
    const first = await run(user);
    const second = await run(user, { name: "again" });
    expect([first.reused_from, second.reused_from]).toEqual([null, first.id]);
    expect(second.id).not.toBe(first.id);
    expect(second.result).toEqual(first.result);
    expect(await read(user, second)).toEqual(await read(user, first));
    expect((await user.get(`/api/backtests/${second.id}/differences?other=${first.id}`)).at("/equal")).toBe(true);
    const [summary] = (await user.get("/api/backtests?view=summary")).list("/backtests");
    expect(summary).toMatchObject({ id: second.id, reused_from: first.id, stale: false, name: "again" });
    expect(Object(summary).sparkline.length).toBeGreaterThan(1);
    // The records live and die on their own.
    expect((await user.send("DELETE", `/api/backtests/${first.id}`)).status).toBe(204);
    expect((await read(user, second))[0]).toContain('"number":1');
    expect((await run(user)).reused_from).toBe(second.id);
  });

  await t.step("anything else is simulated: another user, other parameters, fresh, and a verification", async () => {
    expect((await run(stranger)).reused_from).toBe(null);
    expect((await run(user, { parameters: { timeframe: "1h", fast: 3 } })).reused_from).toBe(null);
    expect((await run(user, { initial_balance: 1001 })).reused_from).toBe(null);
    const fresh = await run(user, { fresh: true });
    expect(fresh.reused_from).toBe(null);
    const again = await user.send("POST", `/api/backtests/${fresh.id}/verify`);
    expect((await user.finish(again.at("/backtest/id"))).at("/backtest/reused_from")).toBe(null);
    const wrong = await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, fresh: "yes" } });
    expect([wrong.status, wrong.at("/error/issues/0/path")]).toEqual([400, "/backtest/fresh"]);
  });

  await t.step("a script's result is reused with its log, also where the script asks for a warm-up", async () => {
    for (const source of [script(1), script(30)]) {
      const strategy = { strategy: "mine", parameters: { timeframe: "1h", runtime: { type: "script", source } } };
      const dates = { start_date: "2024-02-01", end_date: "2024-02-08" };
      const first = await run(user, { ...strategy, ...dates });
      const second = await run(user, { ...strategy, ...dates });
      expect([first.reused_from, second.reused_from]).toEqual([null, first.id]);
      expect(await read(user, second)).toEqual(await read(user, first));
      expect((await read(user, second))[3]).toContain("buys at");
    }
  });

  await t.step("a result whose candles were revised is stale, and is not reused", async () => {
    const path = "/api/admin/ingestion/import?symbol=ACME&exchange=TEST&assetClass=crypto&timeframe=1d";
    const send = (text: string) =>
      user.send("POST", path, text, { "x-ingestion-admin-secret": INGESTION_SECRET, "content-type": "text/csv" });
    expect((await send(file())).at("/imported")).toBe(14);
    const market = { symbol: "ACME", exchange: "TEST", strategy: "Buy and Hold", parameters: { timeframe: "1d" } };
    const touched = await run(user, { ...market, start_date: "2024-01-03", end_date: "2024-01-08" });
    const before = await run(user, { ...market, start_date: "2024-01-02", end_date: "2024-01-05" });
    const stale = async ({ id }: { readonly id: string }) => {
      const listed = (await user.get("/api/backtests")).list("/backtests").find((one) => Object(one).id === id);
      return [(await user.get(`/api/backtests/${id}`)).at("/backtest/stale"), Object(listed).stale];
    };
    expect((await send(file())).at("/unchanged")).toBe(14);
    expect((await send(`${file()}2024-01-15,9,9,9,9,1\n`)).at("/imported")).toBe(1);
    expect([await stale(touched), await stale(before)]).toEqual([[false, false], [false, false]]);
    expect((await send(file(6))).at("/revised")).toBe(1);
    expect([await stale(touched), await stale(before)]).toEqual([[true, true], [false, false]]);
    const anew = await run(user, { ...market, start_date: "2024-01-03", end_date: "2024-01-08" });
    expect([anew.reused_from, await stale(anew)]).toEqual([null, [false, false]]);
    expect(anew.result.data.sha256).not.toBe(touched.result.data.sha256);
    // The old candles are back, but the record that ran on them still says that they were revised.
    expect((await send(file())).at("/revised")).toBe(1);
    const back = await run(user, { ...market, start_date: "2024-01-03", end_date: "2024-01-08" });
    expect([back.reused_from, back.result.data.sha256]).toEqual([null, touched.result.data.sha256]);
    expect((await run(user, { ...market, start_date: "2024-01-02", end_date: "2024-01-05" })).reused_from).toBe(
      before.id,
    );
  });
  await service.close();
});
