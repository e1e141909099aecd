import { expect } from "@std/expect";
import { eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { listEvents } from "../../../db/ingestion.ts";
import { candleChunks } from "../../../db/schema.ts";
import { importCsv } from "../../../market/csv/import.ts";
import type { Timeframe } from "../../../market/timeframes.ts";
import { AppError } from "../../../routers/common/errors.ts";
import { MassiveFeed } from "../../../market/feeds/massive.ts";
import { executeRun } from "../../../market/ingestion/ingestion_run.ts";
import { ReadThrough } from "../../../market/on_demand/read_through.ts";
import { archiveSample } from "../../../market/ingestion/archive_sample.ts";
import { ingestionRouter } from "../../../routers/ingestion/ingestion.ts";
import {
  marketDataRouter,
  marketDataStreamsRouter,
  type TicksAnswer,
} from "../../../routers/market_data/market_data.ts";
import { createCallerFactory } from "../../../routers/common/trpc.ts";
import { databaseTest, eachDatabaseTest } from "../../support/database.ts";
import { strangerContext } from "../../support/context.ts";
import { type Handler, withProvider } from "../../support/provider.ts";

const hour = (index: number) => new Date(Date.UTC(2024, 0, 1) + index * 3_600_000).toISOString();

async function importHours(db: Db, symbol: string, exchange: string, count: number, timeframe: Timeframe = "1h") {
  const lines = Array.from({ length: count }, (_, i) => `${hour(i)},${i + 1},${i + 2},${i + 1},${i + 2},10`);
  const body = new Blob([`time,open,high,low,close,volume\n${lines.join("\n")}`]).stream();
  await importCsv(db, { symbol, exchange, assetClass: "crypto", timeframe, body, bytesMax: 1e7 });
}

async function refusal(attempt: Promise<unknown>) {
  const error: unknown = await attempt.then(() => null, (reason) => reason);
  if (error instanceof AppError) return [error.appCode, error.issues[0]?.path ?? error.message];
  // A schema's refusal reaches REST and tRPC as VALIDATION_FAILED (see errors.ts).
  const cause: unknown = error instanceof Error ? error.cause : error;
  const issues = cause instanceof Error && "issues" in cause ? cause.issues : [];
  return ["schema", JSON.stringify(issues).match(/"path":\["(\w*)"\]/)?.[1] ?? JSON.stringify(issues).slice(0, 60)];
}

eachDatabaseTest("candles and instruments are found, paged and refused", async ({ db }) => {
  await importHours(db, "BTC/USD ü", "ONE", 50);
  await importHours(db, "BTC/USD ü", "TWO", 3);
  await importHours(db, "eth_x", "ONE", 1);
  await servesRanges(db);
  await pages(db);
  await refuses(db);
  await listsInstruments(db);
});

/** Changes a byte of each stored chunk of a month. */
async function damage(db: Db, of: string) {
  const { data, month } = candleChunks;
  await db.update(candleChunks).set({ data: sql`set_byte(${data}, 60, 255 - get_byte(${data}, 60))` })
    .where(eq(month, of));
}

databaseTest("damaged candles without a provider are named until they are imported again", async ({ db }) => {
  const context = strangerContext(db, { hasIngestionSecret: true });
  const pages = createCallerFactory(marketDataRouter)(context);
  const streams = createCallerFactory(marketDataStreamsRouter)(context);
  const range = { symbol: "FILE", startDate: "2024-01-01", endDate: "2024-03-01", timeframe: "1h" } as const;
  const lost = [
    "UNAVAILABLE",
    "Cannot read the 1h candles of FILE on ONE from 2024-02-01 to 2024-03-01: " +
    "they are damaged; import them again",
  ];
  await importHours(db, "FILE", "ONE", 40 * 24);
  const { tag, ...whole } = await streams.ticks(range);
  const counts = await countsOf(whole.batches);
  await damage(db, "2024-02-01");
  // A streamed answer breaks off at damage that was unknown before.
  await expect(countsOf((await streams.ticks(range)).batches)).rejects.toThrow("are damaged; import them again");
  for (let again = 0; again < 2; again++) {
    expect(await refusal(streams.ticks(range))).toEqual(lost);
    expect(await refusal(pages.ticks({ ...range, limit: 50_000 }))).toEqual(lost);
    // A page that ends before them has none of them.
    expect((await pages.ticks({ ...range, limit: 10 })).ticks).toHaveLength(10);
  }
  expect(await listEvents(db, { type: "failed", limit: 10 })).toHaveLength(1);
  // Undamaged candles are answered as before.
  expect(await countsOf((await streams.ticks({ ...range, endDate: "2024-02-01" })).batches)).toEqual([counts[0]]);
  await importHours(db, "FILE", "ONE", 40 * 24);
  const mended = await streams.ticks(range);
  expect([mended.tag, await countsOf(mended.batches)]).toEqual([tag, counts]);
});

databaseTest("a slow answer has the candles of its tag", async ({ db }) => {
  const api = createCallerFactory(marketDataStreamsRouter)(strangerContext(db));
  // A day a month: more chunks than are read at once.
  const months = Array.from({ length: 202 }, (_, i) => new Date(Date.UTC(2008, i, 1)).toISOString().slice(0, 10));
  const key = { symbol: "LONG", exchange: "ONE", assetClass: "crypto", timeframe: "1d" } as const;
  const write = async (days: readonly string[], price: number) => {
    const lines = days.map((day) => `${day},${price},${price},${price},${price},1\n`);
    const body = new Blob(["date,open,high,low,close,volume\n", ...lines]).stream();
    await importCsv(db, { ...key, body, bytesMax: 1e6 });
  };
  const range = { symbol: "LONG", startDate: "2008-01-01", endDate: "2024-10-15", timeframe: "1d" } as const;
  /** Reads an answer after whose first candles something happens. */
  const interrupt = async (happens: () => Promise<unknown>) => {
    const { tag, batches } = await api.ticks(range);
    const closes: number[] = [];
    for await (const batch of batches) {
      closes.push(...(await batch.read()).close);
      if (closes.length === 1) await happens();
    }
    return { tag, closes };
  };
  await write(months, 5);
  const whole = await interrupt(() => Promise.resolve());
  expect(whole.closes).toEqual(Array(202).fill(5));
  // The newest month grows, as it does with each candle that an ingestion adds.
  const grown = await interrupt(() => write(["2024-10-02"], 5));
  expect(grown).toEqual(whole);
  const next = await interrupt(() => Promise.resolve());
  expect([next.tag === whole.tag, next.closes.length]).toEqual([false, 203]);
  // A month that had not been read yet is another one now.
  await expect(interrupt(() => write(["2024-09-01"], 6))).rejects.toThrow(
    "the candles of 2024-09-01 changed after the read began",
  );
  const revised = await interrupt(() => Promise.resolve());
  expect([revised.tag === next.tag, revised.closes.slice(-3)]).toEqual([false, [6, 5, 5]]);
  // A month that was read already may change.
  expect(await interrupt(() => write(["2008-01-01"], 7))).toEqual(revised);
});

databaseTest("a key's limit is answered 429 without a request to the provider", async ({ db }) => {
  let clock = Date.parse("2024-06-01T00:00:30Z");
  const now = () => clock;
  const trade: Handler = () =>
    Response.json({ status: "OK", results: [{ t: Date.parse("2024-01-02T05:00Z"), o: 1, h: 1, l: 1, c: 1, v: 1 }] });
  await withProvider(trade, async (baseUrl, asked) => {
    const feed = new MassiveFeed({ baseUrl, apiKey: "k", requestsPerMinute: 2, now });
    const readThrough = new ReadThrough(db, () => feed, { now });
    const api = createCallerFactory(marketDataStreamsRouter)(strangerContext(db, { readThrough }));
    const range = { startDate: "2024-01-01", endDate: "2024-01-05", timeframe: "1d", assetClass: "stock" } as const;
    const ask = (symbol: string) => api.ticks({ ...range, symbol });
    for (const symbol of ["ONE", "TWO"]) expect((await ask(symbol)).head.symbol).toBe(symbol);
    const refused: unknown = await ask("THREE").catch((reason) => reason);
    expect(refused).toMatchObject({ appCode: "PROVIDER_RATE_LIMITED", retryAfterSeconds: 30 });
    // Stored candles and refused requests do not count.
    await ask("ONE");
    expect(asked.length).toBe(2);
    clock += 30_000;
    expect((await ask("THREE")).head.symbol).toBe("THREE");
    expect(asked.length).toBe(3);
    await readThrough.close();
  });
});

databaseTest("a run with the dates of a damaged month generates the sample's month again", async ({ db }) => {
  await archiveSample(db);
  const context = strangerContext(db, { hasIngestionSecret: true });
  const pages = createCallerFactory(marketDataRouter)(context);
  const range = { symbol: "DEMO", startDate: "2024-03-01", endDate: "2024-03-02", timeframe: "1m", limit: 9 } as const;
  const whole = await pages.ticks(range);
  await damage(db, "2024-03-01");
  const message = "Cannot read the 1m candles of DEMO on SAMPLE from 2024-03-01 to 2024-04-01: " +
    "they are damaged; an ingestion run with these dates makes them again";
  expect(await refusal(pages.ticks(range))).toEqual(["UNAVAILABLE", message]);
  const instruments = [{ symbol: "DEMO", exchange: "SAMPLE" }];
  const dates = { start_date: "2024-03-01", end_date: "2024-04-01" };
  const { run } = await createCallerFactory(ingestionRouter)(context).runOnce({ instruments, ...dates });
  await executeRun(db, run.id);
  expect(await pages.ticks(range)).toEqual(whole);
});

async function servesRanges(db: Db) {
  const api = createCallerFactory(marketDataStreamsRouter)(strangerContext(db));
  const range = { symbol: "BTC/USD ü", startDate: "2024-01-01", endDate: "2024-01-03" };
  const all = await api.ticks({ ...range, timeframe: "1h" });
  expect(all.head).toEqual({ symbol: "BTC/USD ü", timeframe: "1h", assetClass: "crypto", provider: "import" });
  expect(all.nextCursor).toBeUndefined();
  const counts = await countsOf(all.batches);
  // Two days, of which the end is not a part.
  expect(counts).toEqual([48]);
  const two = await api.ticks({ ...range, timeframe: "1h", exchange: "TWO" });
  expect(await countsOf(two.batches)).toEqual([3]);
  const none = await api.ticks({ ...range, startDate: "2020-01-01", endDate: "2020-02-01", timeframe: "1h" });
  expect(await Array.fromAsync(none.batches)).toEqual([]);
  const again = await api.ticks({ ...range, timeframe: "1h" });
  expect(again.tag).toBe(all.tag);
  await importHours(db, "BTC/USD ü", "ONE", 51);
  // Tags are made of whole months, so a candle behind the range changes it too: early, never late.
  expect((await api.ticks({ ...range, timeframe: "1h" })).tag).not.toBe(all.tag);
}

async function countsOf(batches: TicksAnswer["batches"]): Promise<number[]> {
  const counts = [];
  for await (const batch of batches) counts.push((await batch.read()).time.length);
  return counts;
}

async function pages(db: Db) {
  const api = createCallerFactory(marketDataRouter)(strangerContext(db));
  const range = { symbol: "BTC/USD ü", startDate: "2024-01-01", endDate: "2024-01-03" };
  const seen: string[] = [];
  let cursor: string | undefined;
  for (let requests = 0; requests < 10; requests++) {
    const page = await api.ticks({ ...range, timeframe: "1h", limit: 20, ...(cursor && { cursor }) });
    seen.push(...page.ticks.map(({ timestamp }) => timestamp));
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  expect(seen).toEqual(Array.from({ length: 48 }, (_, i) => hour(i)));
  const day = await api.ticks({ ...range, timeframe: "1d", limit: 1 });
  // 1 January: hours 0 to 23, of which hour i opens at i + 1 and closes at i + 2.
  expect(day.ticks).toEqual([{ timestamp: hour(0), open: 1, high: 25, low: 1, close: 25, volume: 240 }]);
  // The second day is whole, the third has only three hours.
  const rest = await api.ticks({ ...range, timeframe: "1d", limit: 5, cursor: day.next_cursor! });
  expect([rest.ticks.map(({ close }) => close), rest.next_cursor]).toEqual([[49], null]);
  const exact = await api.ticks({ ...range, timeframe: "1h", limit: 48 });
  expect([exact.ticks.length, exact.next_cursor]).toEqual([48, null]);
}

async function refuses(db: Db) {
  const api = createCallerFactory(marketDataStreamsRouter)(strangerContext(db));
  const good = { symbol: "BTC/USD ü", startDate: "2024-01-01", endDate: "2024-01-03", timeframe: "1h" } as const;
  const today = new Date().toISOString().slice(0, 10);
  const afterTomorrow = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
  // The range is half-open: with tomorrow as its end, today's closed candles are in it.
  const untilToday = await api.ticks({
    ...good,
    endDate: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10),
  });
  expect(untilToday.head.symbol).toBe(good.symbol);
  const cases: [() => Promise<unknown>, string, string][] = [
    [() => api.ticks({ ...good, startDate: "2023-02-29" }), "schema", "startDate"],
    [() => api.ticks({ ...good, endDate: "2024-1-3" }), "schema", "endDate"],
    [() => api.ticks({ ...good, symbol: "" }), "schema", "symbol"],
    [() => api.ticks({ ...good, symbol: "A\u0000B" }), "VALIDATION_FAILED", "/symbol"],
    [() => api.ticks({ ...good, limit: 0 }), "schema", "limit"],
    [() => api.ticks({ ...good, limit: 50_001 }), "schema", "limit"],
    [() => api.ticks({ ...good, startDate: "2024-01-03" }), "INVALID_DATE_RANGE", "/startDate"],
    [() => api.ticks({ ...good, startDate: "2024-01-04" }), "INVALID_DATE_RANGE", "/startDate"],
    [() => api.ticks({ ...good, endDate: afterTomorrow }), "FUTURE_DATE_RANGE", "/endDate"],
    [() => api.ticks({ ...good, startDate: "1900-01-01", endDate: today }), "RANGE_TOO_LARGE", "/endDate"],
    [() => api.ticks({ ...good, timeframe: "1m" }), "TIMEFRAME_TOO_FINE", "/timeframe"],
    [
      () => api.ticks({ ...good, symbol: "NOPE", assetClass: "stock" }),
      "SYMBOL_NOT_FOUND",
      "Cannot ask provider_b for stock candles: MASSIVE_API_KEY is not set; set it, or import candles with POST /api/admin/ingestion/import",
    ],
    [
      () => api.ticks({ ...good, symbol: "NOPE", assetClass: "crypto", exchange: "NOWHERE" }),
      "SYMBOL_NOT_FOUND",
      "Cannot find candles of crypto NOPE on NOWHERE: feeds serve DUKASCOPY (forex), BINANCE (crypto), " +
      "MASSIVE (forex, crypto, stock; MASSIVE_API_KEY is not set); candles of others must be imported",
    ],
    [() => api.ticks({ ...good, cursor: "abc" }), "VALIDATION_FAILED", "/cursor"],
    [() => api.ticks({ ...good, cursor: btoa("1") }), "VALIDATION_FAILED", "/cursor"],
  ];
  for (const [attempt, code, where] of cases) expect(await refusal(attempt())).toEqual([code, where]);
  // The largest range that is answered: 1,100,000 minutes are 763 days and some.
  const minutes = { ...good, timeframe: "1m" } as const;
  expect(await refusal(api.ticks({ ...minutes, startDate: "2020-01-01", endDate: "2022-02-02" }))).toEqual([
    "TIMEFRAME_TOO_FINE",
    "/timeframe",
  ]);
  expect(await refusal(api.ticks({ ...minutes, startDate: "2020-01-01", endDate: "2022-02-03" }))).toEqual([
    "RANGE_TOO_LARGE",
    "/endDate",
  ]);
}

async function listsInstruments(db: Db) {
  const api = createCallerFactory(marketDataRouter)(strangerContext(db));
  const { instruments, next_cursor } = await api.instruments({ search: "btc" });
  expect(next_cursor).toBeNull();
  expect(instruments).toEqual([
    {
      symbol: "BTC/USD ü",
      exchange: "ONE",
      assetClass: "crypto",
      currency: null,
      provider: "import",
      timeframes: ["1h"],
      first: hour(0),
      last: hour(50),
      candles: 51,
    },
    expect.objectContaining({ exchange: "TWO", candles: 3 }),
  ]);
  // An underscore is a letter like any other, not a wildcard.
  expect((await api.instruments({ search: "_" })).instruments.map(({ symbol }) => symbol)).toEqual(["eth_x"]);
  expect((await api.instruments({ assetClass: "stock" })).instruments).toEqual([]);
  const first = await api.instruments({ limit: 1 });
  const second = await api.instruments({ limit: 2, cursor: first.next_cursor! });
  expect([...first.instruments, ...second.instruments].map(({ symbol, exchange }) => `${symbol} ${exchange}`)).toEqual([
    "BTC/USD ü ONE",
    "BTC/USD ü TWO",
    "eth_x ONE",
  ]);
  expect(second.next_cursor).toBeNull();
  expect(await refusal(api.instruments({ cursor: btoa("nonsense") }))).toEqual(["VALIDATION_FAILED", "/cursor"]);
}
