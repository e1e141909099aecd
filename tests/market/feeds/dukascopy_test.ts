import { expect } from "@std/expect";
import { compress } from "lzma1";
import { DukascopyFeed, pointsPerUnit } from "../../../market/feeds/dukascopy.ts";
import { faultOf, fetchAll, type Handler, withProvider } from "../../support/provider.ts";

const at = (iso: string) => Date.parse(iso);
const MINUTE = 60_000;
const forex = { symbol: "EUR/USD", exchange: "DUKASCOPY", assetClass: "forex" } as const;

/** A .bi5 file: seconds from its start, open, close, low, high in points, volume. */
function bi5(
  ...records: readonly (readonly [number, number, number, number, number, number])[]
): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(records.length * 24));
  records.forEach(([seconds, open, close, low, high, volume], i) => {
    [seconds, open, close, low, high].forEach((value, k) => view.setUint32(i * 24 + k * 4, value));
    view.setFloat32(i * 24 + 20, volume);
  });
  return Uint8Array.from(compress(new Uint8Array(view.buffer)));
}

Deno.test("Dukascopy: a file a day, months from 0, no file at the weekend", async () => {
  // Thursday 29 February 2024 to Monday 4 March; the second candle has no volume: there was no trade.
  const thursday = bi5(
    [23 * 3600 + 58 * 60, 108_000, 108_010, 107_990, 108_020, 12.34],
    [23 * 3600 + 59 * 60, 108_010, 108_010, 108_010, 108_010, 0],
  );
  const handler: Handler = (url) => {
    if (url.pathname === "/EURUSD/2024/01/29/BID_candles_min_1.bi5") return new Response(thursday);
    if (url.pathname === "/EURUSD/2024/02/01/BID_candles_min_1.bi5") return new Response(new Uint8Array(0));
    return new Response("<html>not found</html>", { status: 404 });
  };
  await withProvider(handler, async (baseUrl, asked) => {
    const range = { start: at("2024-02-29T12:00Z"), end: at("2024-03-04T00:00Z") };
    const got = await fetchAll(new DukascopyFeed({ baseUrl }), { instrument: forex, timeframe: "1m", ...range });
    expect(got.rows).toEqual([["2024-02-29T23:58:00.000Z", 1.08, 1.0802, 1.0799, 1.0801, 12.34]]);
    expect(got.ranges[0]).toEqual(["2024-02-29T12:00:00.000Z", "2024-03-01T00:00:00.000Z"]);
    expect(got.ranges.length).toBe(4);
    expect(asked.toSorted()).toEqual([
      "/EURUSD/2024/01/29/BID_candles_min_1.bi5",
      "/EURUSD/2024/02/01/BID_candles_min_1.bi5",
      "/EURUSD/2024/02/02/BID_candles_min_1.bi5",
      "/EURUSD/2024/02/03/BID_candles_min_1.bi5",
    ]);
  });
});

Deno.test("Dukascopy: hours come a month a file, days a year a file, yen in larger points", async () => {
  const handler: Handler = (url) =>
    new Response(
      url.pathname.includes("hour")
        ? bi5([30 * 86_400, 1, 2, 1, 3, 1])
        : bi5([59 * 86_400, 149_500, 149_700, 149_000, 150_000, 9]),
    );
  await withProvider(handler, async (baseUrl, asked) => {
    const feed = new DukascopyFeed({ baseUrl });
    expect([feed.sourceTimeframe("30m"), feed.sourceTimeframe("4h"), feed.sourceTimeframe("1w")]).toEqual([
      "1m",
      "1h",
      "1h",
    ]);
    expect(feed.sourceTimeframe("1M")).toBe("1h");
    expect([feed.sourceTimeframe("3m"), feed.sourceTimeframe("2h"), feed.sourceTimeframe("12h")]).toEqual([
      ...["1m", "1h", "1h"],
    ]);
    const hours = await fetchAll(feed, {
      instrument: forex,
      timeframe: "1h",
      start: at("2023-12-15"),
      end: at("2024-02-01"),
    });
    expect(hours.rows.map(([time]) => time)).toEqual(["2023-12-31T00:00:00.000Z", "2024-01-31T00:00:00.000Z"]);
    const yen = { ...forex, symbol: "usdjpy" };
    const days = await fetchAll(feed, {
      instrument: yen,
      timeframe: "1d",
      start: at("2024-01-01"),
      end: at("2025-01-01"),
    });
    // The sixtieth day of a leap year.
    expect(days.rows).toEqual([["2024-02-29T00:00:00.000Z", 149.5, 150, 149, 149.7, 9]]);
    expect(asked).toEqual([
      "/EURUSD/2023/11/BID_candles_hour_1.bi5",
      "/EURUSD/2024/00/BID_candles_hour_1.bi5",
      "/USDJPY/2024/BID_candles_day_1.bi5",
    ]);
  });
});

Deno.test("Dukascopy: the current year and month are made from the files of months and days", async () => {
  // Noon of Thursday 4 April 2024: the file of 2023 is there, that of March since two days, and those of days until the third.
  const now = at("2024-04-04T12:00Z");
  const files: Record<string, Uint8Array<ArrayBuffer>> = {
    "/EURUSD/2023/BID_candles_day_1.bi5": bi5([364 * 86_400, 100_000, 101_000, 99_000, 102_000, 5]),
    // 00:00 and 23:00 of 5 March, whose candle opens with the one and closes with the other.
    "/EURUSD/2024/02/BID_candles_hour_1.bi5": bi5(
      [4 * 86_400, 110_000, 111_000, 109_000, 112_000, 1.1],
      [5 * 86_400 - 3600, 111_000, 112_000, 108_000, 113_000, 2.2],
    ),
    "/EURUSD/2024/03/02/BID_candles_min_1.bi5": bi5(
      [60, 120_000, 121_000, 119_000, 122_000, 1],
      [3600, 121_000, 122_000, 118_000, 123_000, 2],
    ),
  };
  const handler: Handler = (url) =>
    new Response(files[url.pathname] ?? null, { status: files[url.pathname] ? 200 : 404 });
  await withProvider(handler, async (baseUrl, asked) => {
    const feed = new DukascopyFeed({ baseUrl, now: () => now });
    const range = { start: at("2023-12-30"), end: at("2024-04-04") };
    const days = await fetchAll(feed, { instrument: forex, timeframe: "1d", ...range });
    expect(days.rows).toEqual([
      ["2023-12-31T00:00:00.000Z", 1, 1.02, 0.99, 1.01, 5],
      ["2024-03-05T00:00:00.000Z", 1.1, 1.13, 1.08, 1.12, 3.3],
      ["2024-04-02T00:00:00.000Z", 1.2, 1.23, 1.18, 1.22, 3],
    ]);
    expect(asked.toSorted()).toEqual([
      "/EURUSD/2023/BID_candles_day_1.bi5",
      "/EURUSD/2024/00/BID_candles_hour_1.bi5",
      "/EURUSD/2024/01/BID_candles_hour_1.bi5",
      "/EURUSD/2024/02/BID_candles_hour_1.bi5",
      "/EURUSD/2024/03/01/BID_candles_min_1.bi5",
      "/EURUSD/2024/03/02/BID_candles_min_1.bi5",
      "/EURUSD/2024/03/03/BID_candles_min_1.bi5",
    ]);
    expect([days.ranges[0], days.ranges.at(-1)]).toEqual([
      ["2023-12-30T00:00:00.000Z", "2024-01-01T00:00:00.000Z"],
      ["2024-04-03T00:00:00.000Z", "2024-04-04T00:00:00.000Z"],
    ]);
    const hours = await fetchAll(feed, {
      instrument: forex,
      timeframe: "1h",
      start: at("2024-04-02"),
      end: at("2024-04-03"),
    });
    expect(hours.rows.map(([time, open]) => [time, open])).toEqual([
      ["2024-04-02T00:00:00.000Z", 1.2],
      ["2024-04-02T01:00:00.000Z", 1.21],
    ]);
  });
});

Deno.test("Dukascopy: each pair has its own points, and an unknown pair has none", () => {
  const points = {
    EURUSD: 100_000,
    USDJPY: 1_000,
    SEKJPY: 100_000,
    USDCZK: 10_000,
    EURHUF: 1_000,
    USDTHB: 10_000,
    USDSAR: 100,
    NZDHKD: 1_000,
    AUDCNH: 1_000_000,
    XAUUSD: 1_000,
    XAUJPY: 10,
    XAUXAG: 100_000,
    BTCUSD: undefined,
    USDRUB: undefined,
    EURUS: undefined,
  };
  expect(Object.fromEntries(Object.keys(points).map((pair) => [pair, pointsPerUnit(pair)]))).toEqual(points);
});

Deno.test("Dukascopy: damaged and foreign files are failures, not candles", async () => {
  const whole = bi5([0, 1, 1, 1, 1, 1]);
  const cut = whole.slice(0, 18);
  const ragged = Uint8Array.from(compress(new Uint8Array(25)));
  const answers = [
    () => new Response(cut),
    () => new Response("<html>"),
    () => new Response(ragged),
    () => new Response("", { status: 403 }),
  ];
  for (const [index, fault] of ["failed", "failed", "refused", "refused"].entries()) {
    await withProvider(() => answers[index]!(), async (baseUrl) => {
      const request = { instrument: forex, timeframe: "1m", start: at("2024-01-01"), end: at("2024-01-02") } as const;
      expect((await faultOf(fetchAll(new DukascopyFeed({ baseUrl }), request))).fault).toBe(fault);
    });
  }
  for (const symbol of ["BITCOIN", "BTC/USD", "EUR/USDü", "EURÜUSD"]) {
    const request = { instrument: { ...forex, symbol }, timeframe: "1m", start: 0, end: MINUTE } as const;
    expect((await faultOf(fetchAll(new DukascopyFeed(), request))).fault).toBe("unknown_symbol");
  }
});
