/** Files of candles over HTTP: what is kept of them, and what comes out again. */
import { expect } from "@std/expect";
import { gzipSync } from "node:zlib";
import { tableFromIPC } from "apache-arrow";
import type { Answer, TestClient } from "../support/client.ts";
import { INGESTION_SECRET, startTestService, type TestService } from "../support/service.ts";

const TICKS = "/api/market-data/ticks";
const secret = { "x-ingestion-admin-secret": INGESTION_SECRET };

Deno.test("files over HTTP", async (t) => {
  const service = await startTestService();
  const client = service.client();
  await t.step("a file is imported, good lines kept and bad ones told", () => importFiles(client));
  await t.step(
    "a program's packed file is imported, its dialect told, and a file with two readings asked about",
    () => importPrograms(client),
  );
  await t.step("imported candles come out to the digit and the second, in each format", () => readExactly(client));
  await t.step("spaces around a name are no part of it, wherever it is given", () => nameLoosely(service));
  await t.step("days make months, a file of months is kept, and a backtest runs on them", () => tradeMonths(service));
  await service.close();
});

async function importFiles(client: TestClient) {
  const path = "/api/admin/ingestion/import?symbol=ACME&exchange=NYSE&assetClass=stock&timeframe=1d";
  const post = (body: string, type = "text/csv") =>
    client.send("POST", path, body, { ...secret, "content-type": type });
  const header = "date,open,high,low,close,volume";
  const said = (answer: Answer) => [answer.status, answer.at("/error/code")];
  expect(said(await post(""))).toEqual([400, "VALIDATION_FAILED"]);
  expect(said(await post("date,open\n"))).toEqual([400, "VALIDATION_FAILED"]);
  expect(said(await post(`${header}\n`, "application/json"))).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
  const mixed = `\uFEFF${header}\r\n2024-01-02,1,3,0.5,2,10\r\n2024-01-03,1,2,3,2,10\r\n2024-01-02,1,3,0.5,2,10\r\n`;
  const answer = await post(mixed);
  expect([answer.status, answer.at("/imported"), answer.at("/rejected_count")]).toEqual([200, 1, 2]);
  expect(answer.at("/rejected")).toEqual([
    { line: 3, reason: "high 2 is below low 3" },
    { line: 4, reason: "has the same time as line 2" },
  ]);
  const again = await post(mixed);
  expect([again.at("/imported"), again.at("/unchanged"), again.at("/revised")]).toEqual([0, 1, 0]);
}

async function importPrograms(client: TestClient) {
  const path = "/api/admin/ingestion/import?exchange=NASDAQ&assetClass=stock";
  const post = (query: string, body: string | Uint8Array<ArrayBuffer>, type: string) =>
    client.send("POST", `${path}&${query}`, body, { ...secret, "content-type": type });
  const file = "Date;Open;High;Low;Close;Volume\r\n13.02.2024;1,5;3;0,5;2;1.000\r\n14.02.2024;2,5;4;1,5;3;2.000\r\n";
  const packed = await post("symbol=PACKED", new Uint8Array(gzipSync(file)), "application/gzip");
  expect([packed.status, packed.at("/imported"), packed.at("/timeframe"), packed.at("/dialect")]).toEqual([
    200,
    2,
    "1d",
    {
      ...{ name: "plain", packing: "gzip", encoding: "utf-8", delimiter: ";" },
      columns: {
        ...{ time: "Date", clock: null, open: "Open", high: "High", low: "Low", close: "Close", volume: "Volume" },
        ticker: null,
      },
      ...{ date_order: "dmy", time_unit: null, decimal_mark: "comma", timezone: "UTC" },
    },
  ]);
  const ticks = await client.get(`${TICKS}?symbol=PACKED&startDate=2024-02-13&endDate=2024-02-14&timeframe=1d`);
  expect(ticks.at("/ticks/0")).toMatchObject({ open: 1.5, low: 0.5, volume: 1000 });
  const open = "Date,Open,High,Low,Close,Volume\n01/02/2024,1,1,1,1,1\n";
  const asked = await post("symbol=OPEN", open, "text/csv");
  expect([asked.status, asked.at("/error/code"), asked.at("/error/issues/0/path")]).toEqual([
    ...[400, "VALIDATION_FAILED", "/dateOrder"],
  ]);
  // One candle has no distance.
  const single = await post("symbol=OPEN&dateOrder=dmy", open, "text/csv");
  expect([single.status, single.at("/error/issues/0/path")]).toEqual([400, "/timeframe"]);
  const forced = await post(
    "symbol=OPEN&timeframe=1d&dateOrder=mdy&columns=time,open,high,low,close,-",
    open,
    "text/csv",
  );
  expect([forced.at("/imported"), forced.at("/dialect/date_order"), forced.at("/dialect/columns/volume")]).toEqual([
    ...[1, "mdy", null],
  ]);
  const wrong = { columns: ["time,open", "time,open,high,low,close,x", "time,time,open,high,low,close"] };
  const refusals = {
    ...wrong,
    timezone: ["Mars"],
    dateOrder: ["ydm"],
    decimalMark: ["."],
    timeUnit: ["h"],
    dialect: ["x"],
  };
  for (const [name, values] of Object.entries(refusals)) {
    for (const value of values) {
      const refused = await post(`symbol=OPEN&${name}=${encodeURIComponent(value)}`, open, "text/csv");
      expect([refused.status, refused.at("/error/issues/0/path")]).toEqual([400, `/${name}`]);
    }
  }
}

async function readExactly(client: TestClient) {
  // The hours in which New York's clock moves, a leap day's end and a year's, with the smallest and the largest prices and volumes.
  const rows = [
    ["2024-02-29T23:00:00.000Z", "0.00000001", "1000000000", "1e-8", "1E9", "0"],
    ["2024-03-01T00:00:00.000Z", "0.30000000000000004", "123456789.12345678", "0.1", "0.2", "0.00000001"],
    ["2024-03-10T06:00:00.000Z", "1", "1", "1", "1", "1e9"],
    ["2024-03-10T07:00:00.000Z", "1", "1.5", "0.5", "1.25", "4.9406564584124654e-324"],
    ["2024-11-03T05:00:00.000Z", "2", "2", "2", "2", "2"],
    ["2024-11-03T06:00:00.000Z", "3", "3", "3", "3", "3"],
    ["2024-12-31T23:00:00.000Z", "4", "4", "4", "4", "123456789012345680000"],
    ["2025-01-01T00:00:00.000Z", "5", "1.7976931348623157e308", "5", "5", "5"],
  ];
  // Every second time as milliseconds since 1970, every third without a zone.
  const written = (iso: string, i: number) => i % 2 === 1 ? Date.parse(iso) : i % 3 === 2 ? iso.slice(0, 19) : iso;
  const lines = rows.map(([time, ...values], i) => [written(time!, i), ...values].join());
  const file = `time,open,high,low,close,volume\n${lines.join("\n")}\n`;
  const name = encodeURIComponent("Ñ/日本 €🚀");
  const target = `symbol=${name}&exchange=X&assetClass=crypto&timeframe=1h`;
  const csvType = { ...secret, "content-type": "text/csv" };
  const imported = await client.send("POST", `/api/admin/ingestion/import?${target}`, file, csvType);
  expect([imported.at("/imported"), imported.at("/rejected")]).toEqual([8, []]);
  const expected = rows.map(([time, ...values]) => [time, ...values.map(Number)]);
  const keys = ["timestamp", "open", "high", "low", "close", "volume"];

  const path = `${TICKS}?symbol=${name}&startDate=2024-02-29&endDate=2025-01-02&timeframe=1h`;
  const json = await client.get(path);
  expect(json.at("/symbol")).toBe("Ñ/日本 €🚀");
  expect(json.list("/ticks").map((_, i) => keys.map((key) => json.at(`/ticks/${i}/${key}`)))).toEqual(expected);
  const csv = (await client.get(`${path}&format=csv`)).text.trimEnd().split("\n").map((line) => line.split(","));
  expect(csv[0]).toEqual(keys);
  expect(csv.slice(1).map(([time, ...values]) => [time, ...values.map(Number)])).toEqual(expected);
  // The CSV of an answer can be imported again and gives the same candles.
  const text = (await client.get(`${path}&format=csv`)).text;
  const again = await client.send("POST", `/api/admin/ingestion/import?${target}`, text, csvType);
  expect([again.at("/unchanged"), again.at("/imported"), again.at("/revised")]).toEqual([8, 0, 0]);
  const arrow = await fetch(`${client.url}${path}&format=arrow`);
  const table = tableFromIPC(new Uint8Array(await arrow.arrayBuffer()));
  expect(table.schema.metadata.get("symbol")).toBe("Ñ/日本 €🚀");
  const columns = keys.map((key) => [...table.getChild(key)!]);
  expect(expected.map((_, i) => columns.map((column) => column[i]))).toEqual(
    expected.map(([time, ...values]) => [Date.parse(String(time)), ...values]),
  );
  // The days of which those hours are a part, by UTC whatever New York's clock does.
  const days = await client.get(path.replace("=1h", "=1d"));
  const opens = days.list("/ticks").map((_, i) => String(days.at(`/ticks/${i}/timestamp`)).slice(0, 10));
  expect(opens).toEqual(["2024-02-29", "2024-03-01", "2024-03-10", "2024-11-03", "2024-12-31"]);
}

/** Lines of candles of six hours from December 2023 on, each a close one above that of the last. */
function risingSixHours(count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const time = new Date(Date.UTC(2023, 11, 1, 6 * i)).toISOString();
    return `${time},${100 + i},${101 + i},${100 + i},${101 + i},1\n`;
  }).join("");
}

async function tradeMonths(service: TestService) {
  const user = await service.user();
  const csv = { ...secret, "content-type": "text/csv" };
  const header = "date,open,high,low,close,volume\n";
  const importFile = (symbol: string, timeframe: string, file: string) => {
    const query = `symbol=${symbol}&exchange=X&assetClass=crypto&timeframe=${timeframe}`;
    return user.send("POST", `/api/admin/ingestion/import?${query}`, header + file, csv);
  };
  // December 2023 to March 2024: 31, 31, 29 and 31 days, each with a volume of 1 and a close one above that of the day before.
  const days = Array.from({ length: 122 }, (_, i) => {
    const date = new Date(Date.UTC(2023, 11, 1 + i)).toISOString().slice(0, 10);
    return `${date},${100 + i},${101 + i},${100 + i},${101 + i},1\n`;
  });
  expect((await importFile("DAYS", "1d", days.join(""))).at("/imported")).toBe(122);
  // The same months as an exporter writes them, each on its last day.
  const ends = ["2023-12-31,100,131,100,131,31", "2024-01-31,131,162,131,162,31", "2024-02-29,162,191,162,191,29"];
  const months = await importFile("MONTHS", "1M", [...ends, "2024-03-31,191,222,191,222,31"].join("\n"));
  expect([months.at("/imported"), months.at("/rejected"), months.at("/convention")]).toEqual([
    ...[4, [], "stamped at 00:00 UTC of the date, the last of its month or the last that was traded"],
  ]);
  const ticks = async (symbol: string) => {
    const range = "startDate=2023-12-01&endDate=2024-04-01&timeframe=1M";
    const answer = await user.get(`${TICKS}?symbol=${symbol}&${range}`);
    expect(answer.at("/timeframe")).toBe("1M");
    return answer.list("/ticks");
  };
  const made = await ticks("DAYS");
  expect(made.length).toBe(4);
  expect(made[2]).toEqual({
    timestamp: "2024-02-01T00:00:00.000Z",
    ...{ open: 162, high: 191, low: 162, close: 191, volume: 29 },
  });
  expect(await ticks("MONTHS")).toEqual(made);
  // Minutes are another timeframe, and days are finer than what the file of months holds.
  const finer = await user.get(`${TICKS}?symbol=MONTHS&startDate=2024-01-01&endDate=2024-02-01&timeframe=1m`);
  expect([finer.status, finer.at("/error/code")]).toEqual([400, "TIMEFRAME_TOO_FINE"]);

  const run = async (symbol: string, timeframe: string) => {
    const range = { start_date: "2023-12-01", end_date: "2024-04-01", initial_balance: 1000 };
    const target = { symbol, exchange: "X", strategy: "Buy and Hold" };
    const backtest = { ...range, ...target, parameters: { timeframe, execution: { quantityStep: 1 } } };
    const accepted = await user.send("POST", "/api/backtests", { backtest });
    const stored = timeframe === "monthly" ? "1M" : timeframe;
    expect([accepted.status, accepted.at("/backtest/parameters/timeframe")]).toEqual([202, stored]);
    return await user.finish(accepted.at("/backtest/id"));
  };
  const record = await run("DAYS", "monthly");
  // Buys 7 at the open of January, 131, and holds them at 222.
  expect(record.at("/backtest/result")).toMatchObject({
    data: { candles: 4, first: "2023-12-01T00:00:00.000Z", last: "2024-03-01T00:00:00.000Z", gaps: 0 },
    execution: { periodsPerYear: 12 },
    metrics: { duration_days: 122, final_equity: 1000 + 7 * (222 - 131) },
    notes: ["end_date 2024-04-01 is exclusive: the last candle opens at 2024-03-01T00:00:00.000Z"],
  });
  const stored = await run("MONTHS", "1M");
  expect(stored.at("/backtest/result/metrics")).toEqual(record.at("/backtest/result/metrics"));
  // A file of six hours makes candles of twelve, and a run of each.
  expect((await importFile("SIX", "6h", risingSixHours(488))).at("/imported")).toBe(488);
  for (const [timeframe, candles, open] of [["6h", 488, 101], ["12h", 244, 102]] as const) {
    const done = await run("SIX", timeframe);
    // Buys 9 at the second candle's open, and holds them at the last close, 588.
    expect(done.at("/backtest/result")).toMatchObject({
      data: { candles, gaps: 0 },
      metrics: { duration_days: 122, final_equity: 1000 + 9 * (588 - open) },
    });
  }
  const returns = await user.get(`/api/backtests/${record.at("/backtest/id")}/returns?period=monthly`);
  expect(returns.list("/returns").map((_, i) => returns.at(`/returns/${i}/equity`))).toEqual([1000, 1217, 1420, 1637]);
}

async function nameLoosely(service: TestService) {
  const user = await service.user();
  const file = "date,open,high,low,close,volume\n2024-01-02,1,1,1,1,1\n2024-01-03,1,1,1,1,1\n";
  const query = "symbol=%20A%20B&exchange=X%20&assetClass=stock&timeframe=1d";
  const csv = { ...secret, "content-type": "text/csv" };
  const imported = await user.send("POST", `/api/admin/ingestion/import?${query}`, file, csv);
  const key = { symbol: "A B", exchange: "X" };
  expect(imported.at("/run/instruments")).toEqual([key]);
  // A space within is.
  const ticks = await user.get(`${TICKS}?symbol=A%20B%09&startDate=2024-01-02&endDate=2024-01-04&timeframe=1d`);
  expect([ticks.at("/symbol"), ticks.list("/ticks").length]).toEqual(["A B", 2]);
  const loose = { symbol: "\tA B ", exchange: "\u00a0X" };
  const run = await user.send("POST", "/api/admin/ingestion/run-once", { instruments: [loose] }, secret);
  expect(run.at("/run/instruments")).toEqual([key]);
  const range = { start_date: "2024-01-02", end_date: "2024-01-04", initial_balance: 1000 };
  const submit = (name: object) =>
    user.send("POST", "/api/backtests", {
      backtest: { ...range, strategy: "Buy and Hold", parameters: { timeframe: "1d" }, ...name },
    });
  const accepted = await submit(loose);
  expect([accepted.at("/backtest/symbol"), accepted.at("/backtest/exchange")]).toEqual([key.symbol, key.exchange]);
  // All of them refuse invisible characters alike.
  const hidden = "A\u200bB";
  const refusals = [
    await submit({ ...loose, symbol: hidden }),
    await user.get(`${TICKS}?symbol=${hidden}&startDate=2024-01-02&endDate=2024-01-04`),
  ];
  expect(refusals.map((answer) => [answer.status, answer.at("/error/issues/0/message")])).toEqual(
    Array(2).fill([400, `must be printable, not ${JSON.stringify(hidden)}`]),
  );
}
