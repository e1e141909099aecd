/** Plots of scripts and modules over HTTP. */
import { expect } from "@std/expect";
import { tableFromIPC } from "apache-arrow";
import type { TestClient } from "../support/client.ts";
import { compileAssemblyScript } from "../workers/sandbox/wasm/modules.ts";
import { EXAMPLES } from "./foreign_code.ts";

const SOURCE = `strategy(({ failAt = Infinity }) => ({
  decide(i, { time, close }) {
    const { hour } = utc(time[i]);
    plot("close, twice", 2 * close[i] - close[i]);
    plot("odd", hour % 2 === 1 ? hour : NaN);
    plot("level", 50, "own");
    if (time[i] === failAt) null.x;
  },
}));`;
const MODULE = `import { askPlot, draw, frame, play, readNumber, Strategy, utc, valueAt } from "./hindcast";
export { abi_version, alloc, init, on_candle } from "./hindcast";

class Plots extends Strategy {
  twice: i32 = askPlot("close, twice");
  odd: i32 = askPlot("odd");
  level: i32 = askPlot("level", "own");
  failAt: f64 = readNumber("failAt", Infinity);

  decide(): void {
    const i = frame.count - 1, time = valueAt(frame.time, i), close = valueAt(frame.close, i);
    const hour = utc(time).hour;
    draw(this.twice, 2 * close - close);
    draw(this.odd, hour % 2 == 1 ? hour : NaN);
    draw(this.level, 50);
    assert(time != this.failAt, "as it was told to");
  }
}
play(() => new Plots());
`;
const SCRIPT = { type: "script", source: SOURCE };
const RANGE = { symbol: "DEMO", exchange: "SAMPLE", start_date: "2024-02-01", end_date: "2024-05-01" };
const PLOTS = [{ name: "close, twice", pane: "price" }, { name: "odd", pane: "odd" }, { name: "level", pane: "own" }];

/** The script as a module. */
export async function compilePlots(): Promise<object> {
  const bindings = { "hindcast.ts": await Deno.readTextFile(new URL("assemblyscript/hindcast.ts", EXAMPLES)) };
  const module = await compileAssemblyScript(MODULE, bindings);
  return { type: "wasm", artifact: { content_base64: module.toBase64() } };
}

/** A run that plots; its id and its number of candles. */
async function runPlots(user: TestClient, parameters: object): Promise<{ id: string; candles: number }> {
  const parametersOfRun = { timeframe: "1h", ...parameters };
  const backtest = { ...RANGE, strategy: "plots", initial_balance: 1000, parameters: parametersOfRun };
  const submitted = await user.send("POST", "/api/backtests", { backtest });
  const done = await user.finish(submitted.at("/backtest/id"));
  return { id: String(done.at("/backtest/id")), candles: Number(done.at("/backtest/result/data/candles") ?? 0) };
}

/** Requires the plots of a completed run in each format, and merged to draw. */
export async function requirePlots(user: TestClient, stranger: TestClient, runtime: object = SCRIPT): Promise<void> {
  const { id, candles } = await runPlots(user, { runtime });
  const path = `/api/backtests/${id}/series`;
  const first = await user.get(`${path}?limit=3`);
  const ticks = await user.get(
    "/api/market-data/ticks?symbol=DEMO&exchange=SAMPLE&timeframe=1h&startDate=2024-02-01&endDate=2024-02-02",
  );
  const closes = ticks.list("/ticks").map((tick) => Object(tick).close);
  expect(first.at("/plots")).toEqual(PLOTS);
  expect(first.list("/series").map((point) => Object(point).values)).toEqual([
    [closes[0], null, 50],
    [closes[1], 1, 50],
    [closes[2], null, 50],
  ]);
  const second = await user.get(`${path}?limit=2&cursor=${first.at("/next_cursor")}`);
  expect(second.list("/series").map((point) => Object(point).timestamp)).toEqual([
    "2024-02-01T03:00:00.000Z",
    "2024-02-01T04:00:00.000Z",
  ]);
  const day = await user.get(`${path}?from=2024-04-30&to=2024-05-01`);
  expect([day.list("/series").length, day.at("/next_cursor")]).toEqual([24, null]);
  expect([(await user.get(path)).list("/series").length, (await stranger.get(path)).status]).toEqual([500, 404]);
  const csv = await user.get(`${path}?format=csv`);
  const lines = csv.text.trimEnd().split("\n");
  expect([lines.length, lines[0]]).toEqual([candles + 1, 'timestamp,"close, twice",odd,level']);
  expect(lines[1]).toBe(`2024-02-01T00:00:00.000Z,${closes[0]},,50`);
  const arrow = await fetch(`${user.url}${path}?format=arrow`, { headers: { cookie: user.cookie } });
  const table = tableFromIPC(new Uint8Array(await arrow.arrayBuffer()));
  expect([table.numRows, table.getChild("odd")?.get(0), table.getChild("odd")?.get(1)]).toEqual([candles, NaN, 1]);

  const draw = async (input: object) =>
    (await user.get(`/trpc/backtests.series?input=${encodeURIComponent(JSON.stringify({ id, ...input }))}`))
      .at("/result/data");
  expect(await draw({ from: 0, until: 8, points: 4 })).toMatchObject({
    ...{ plots: PLOTS, candles, from: 0, until: 8, step: 2 },
    // The last value of each bucket.
    values: [[closes[1], closes[3], expect.any(Number), expect.any(Number)], [1, 3, 5, 7], [50, 50, 50, 50]],
  });
  const chart = await user.get(
    `/trpc/backtests.chart?input=${encodeURIComponent(JSON.stringify({ id, points: 100 }))}`,
  );
  expect(Object(await draw({ points: 100 })).time).toEqual(chart.at("/result/data/time"));
}

/** Requires the plots of a run that failed, until it failed. */
export async function requirePlotsOfFailure(user: TestClient, runtime: object = SCRIPT): Promise<void> {
  // The check before the run has candles of 00:00 alone.
  const { id } = await runPlots(user, { failAt: Date.UTC(2024, 1, 26, 1), runtime });
  const rows = (await user.get(`/api/backtests/${id}/series?limit=1000`)).list("/series");
  expect([rows.length, Object(rows[599]).values[1], Object(rows[600]).values[1]]).toEqual([602, 23, null]);
  expect((await user.get(`/api/backtests/${id}`)).at("/backtest/status")).toBe("failed");
}

/** Requires the plots of a module over two markets, by their marks: those of the script. */
export async function requireModulePlotsOfMarkets(user: TestClient, module: object): Promise<void> {
  const instruments = ["DEMO", "STOCK"].map((symbol) => ({ symbol, exchange: "SAMPLE" }));
  const [ofScript, ofModule] = [
    await runPlots(user, { instruments, runtime: SCRIPT }),
    await runPlots(user, { instruments, runtime: module }),
  ];
  const [script, modules] = [ofScript, ofModule].map(({ id }) => `/api/backtests/${id}/series?limit=100`);
  const expected = await user.get(script!);
  expect([expected.list("/plots").length, expected.list("/series").length]).toEqual([6, 100]);
  expect((await user.get(modules!)).text).toBe(expected.text);
}
