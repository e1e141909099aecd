import { expect } from "@std/expect";
import { BinanceFeed } from "../../../market/feeds/binance.ts";
import { faultOf, fetchAll, type Handler, withProvider } from "../../support/provider.ts";

const at = (iso: string) => Date.parse(iso);
const MINUTE = 60_000;
const crypto = { symbol: "BTC/USDT", exchange: "BINANCE", assetClass: "crypto" } as const;

const kline = (
  time: number,
  close = "2.5",
  length = MINUTE,
) => [time, "1.0", "3.00000000", "0.5", close, "10.1", time + length - 1, "25.25", 7, "5.0", "12.5", "0"];

/** Answers as the exchange does: rows of [startTime, endTime], at most `limit`, oldest first. */
const binance = (rows: unknown[][]): Handler => (url) => {
  const [start, end, limit] = ["startTime", "endTime", "limit"].map((name) => Number(url.searchParams.get(name)));
  const found = rows.filter((row) => Number(row[0]) >= start! && Number(row[0]) <= end!).slice(0, limit);
  return Response.json(found, { headers: { "x-mbx-used-weight-1m": "12" } });
};

Deno.test("Binance: pages of a thousand are followed to the end of the range", async () => {
  const start = at("2024-02-28T00:00Z");
  const rows = Array.from({ length: 2_500 }, (_, i) => kline(start + i * MINUTE));
  await withProvider(binance(rows), async (baseUrl, asked) => {
    const feed = new BinanceFeed({ baseUrl });
    const got = await fetchAll(feed, { instrument: crypto, timeframe: "1m", start, end: start + 2_400 * MINUTE });
    expect(got.rows.length).toBe(2_400);
    expect(got.rows[0]).toEqual(["2024-02-28T00:00:00.000Z", 1, 3, 0.5, 2.5, 10.1]);
    expect(got.rows.at(-1)![0]).toBe("2024-02-29T15:59:00.000Z");
    expect(got.ranges.map(([from]) => from)).toEqual([
      "2024-02-28T00:00:00.000Z",
      "2024-02-28T16:40:00.000Z",
      "2024-02-29T09:20:00.000Z",
    ]);
    expect(asked[0]).toBe(
      `/api/v3/klines?symbol=BTCUSDT&interval=1m&limit=1000&startTime=${start}&endTime=${start + 2_400 * MINUTE - 1}`,
    );
  });
});

Deno.test("Binance: an open candle, an empty page, disorder and a row that is no candle", async () => {
  const start = at("2024-03-01T00:00Z");
  const now = start + 3 * MINUTE + 30_000;
  const rows = [kline(start + MINUTE), kline(start), kline(start + 2 * MINUTE, "4.0"), kline(start + 3 * MINUTE)];
  await withProvider(() => Response.json(rows), async (baseUrl) => {
    const feed = new BinanceFeed({ baseUrl, now: () => now });
    const got = await fetchAll(feed, { instrument: crypto, timeframe: "1m", start, end: start + 10 * MINUTE });
    // The third closes above its high; the fourth is still open, so that nothing is known from there on.
    expect(got.rows.map(([time]) => time)).toEqual(["2024-03-01T00:00:00.000Z", "2024-03-01T00:01:00.000Z"]);
    expect(got.rejected).toBe(1);
    expect(got.ranges).toEqual([["2024-03-01T00:00:00.000Z", "2024-03-01T00:03:00.000Z"]]);
    // The exchange's clock may be some seconds behind, and the minute that is over here not over there.
    const early = new BinanceFeed({ baseUrl, now: () => start + 2 * MINUTE + 3_000 });
    const first = await fetchAll(early, { instrument: crypto, timeframe: "1m", start, end: start + 2 * MINUTE });
    expect(first.ranges).toEqual([["2024-03-01T00:00:00.000Z", "2024-03-01T00:01:00.000Z"]]);
  });
  await withProvider(binance([]), async (baseUrl) => {
    const got = await fetchAll(new BinanceFeed({ baseUrl }), {
      instrument: crypto,
      timeframe: "1w",
      start: at("2010-01-04"),
      end: at("2010-02-01"),
    });
    expect(got).toEqual({ rows: [], ranges: [["2010-01-04T00:00:00.000Z", "2010-02-01T00:00:00.000Z"]], rejected: 0 });
  });
});

Deno.test("Binance: months are answered up to the end of the last one", async () => {
  const months = [at("2024-01-01"), at("2024-02-01")];
  const page: Handler = (url, request) => binance(months.map((time) => kline(time)))(url, request);
  await withProvider(page, async (baseUrl, asked) => {
    const range = { instrument: crypto, timeframe: "1M", start: at("2024-01-01"), end: at("2024-04-01") } as const;
    const got = await fetchAll(new BinanceFeed({ baseUrl }), range);
    expect(asked[0]).toContain("interval=1M");
    expect(got.rows.map(([time]) => time)).toEqual(["2024-01-01T00:00:00.000Z", "2024-02-01T00:00:00.000Z"]);
    // February 2024 has 29 days. Nothing was traded in March.
    expect(got.ranges).toEqual([
      ["2024-01-01T00:00:00.000Z", "2024-03-01T00:00:00.000Z"],
      ["2024-03-01T00:00:00.000Z", "2024-04-01T00:00:00.000Z"],
    ]);
  });
});

Deno.test("Binance: a short page is continued, and a page of another time fails", async () => {
  const start = at("2024-03-01T00:00Z");
  const range = { instrument: crypto, timeframe: "1m", start, end: start + 1_000 * MINUTE } as const;
  const rows = Array.from({ length: 900 }, (_, i) => kline(start + i * MINUTE));
  // A mirror with a limit of its own; the last hundred minutes had no trade.
  const short: Handler = (url, request) => {
    url.searchParams.set("limit", "500");
    return binance(rows)(url, request);
  };
  await withProvider(short, async (baseUrl, asked) => {
    const got = await fetchAll(new BinanceFeed({ baseUrl }), range);
    expect([got.rows.length, asked.length, got.ranges.at(-1)?.[1]]).toEqual([900, 3, "2024-03-01T16:40:00.000Z"]);
  });
  const cached: Handler = () => Response.json([kline(start - MINUTE)]);
  await withProvider(cached, async (baseUrl) => {
    const { fault, message } = await faultOf(fetchAll(new BinanceFeed({ baseUrl }), range));
    expect([fault, message]).toEqual([
      "failed",
      "Cannot use Binance: it answered with candles outside the requested range",
    ]);
  });
});

Deno.test("Binance: times before 1970 are empty without a request", async () => {
  await withProvider(binance([kline(0, "2.5", 24 * 60 * MINUTE)]), async (baseUrl, asked) => {
    const range = { instrument: crypto, timeframe: "1d", start: at("1969-12-30"), end: at("1970-01-03") } as const;
    const got = await fetchAll(new BinanceFeed({ baseUrl }), range);
    expect(got.rows.map(([time]) => time)).toEqual(["1970-01-01T00:00:00.000Z"]);
    expect([got.ranges[0]![0], got.ranges.at(-1)![1]]).toEqual([
      "1969-12-30T00:00:00.000Z",
      "1970-01-03T00:00:00.000Z",
    ]);
    const early = await fetchAll(new BinanceFeed({ baseUrl }), { ...range, end: at("1970-01-01") });
    expect(early.ranges).toEqual([["1969-12-30T00:00:00.000Z", "1970-01-01T00:00:00.000Z"]]);
    expect(asked.map((path) => new URL(path, baseUrl).searchParams.get("startTime"))).toEqual([
      "0",
      String(24 * 60 * MINUTE),
    ]);
  });
});

Deno.test("Binance: only separators are dropped from a symbol", async () => {
  await withProvider(binance([]), async (baseUrl, asked) => {
    const range = { timeframe: "1m", start: 0, end: MINUTE } as const;
    for (const symbol of ["btc-usdt", "BTC_USDT", "BTCÜUSDT", "币安人生/usdt"]) {
      await fetchAll(new BinanceFeed({ baseUrl }), { ...range, instrument: { ...crypto, symbol } });
    }
    const symbols = asked.map((path) => new URL(path, baseUrl).searchParams.get("symbol"));
    expect(symbols).toEqual(["BTCUSDT", "BTCUSDT", "BTCÜUSDT", "币安人生USDT"]);
  });
});

Deno.test("Binance: each kind of error has its fault", async () => {
  const answers: Record<string, () => Response> = {
    BUSY: () => Response.json({}, { status: 429, headers: { "retry-after": "7" } }),
    BANNED: () => Response.json({}, { status: 418, headers: { "retry-after": "180" } }),
    NOPE: () => Response.json({ code: -1121, msg: "Invalid symbol." }, { status: 400 }),
    DOWN: () => new Response("<html>bad gateway</html>", { status: 502 }),
    "日本": () =>
      Response.json({ code: -1100, msg: "Illegal characters found in parameter 'symbol'." }, { status: 400 }),
    WRONG: () => Response.json({ code: -1102, msg: "A mandatory parameter was not sent." }, { status: 400 }),
    BLOCKED: () => new Response("<html>not from your country</html>", { status: 451 }),
    ODD: () => Response.json([["not a kline"]]),
    TEXT: () => new Response("hello"),
  };
  const handler: Handler = (url) => answers[url.searchParams.get("symbol")!]!();
  await withProvider(handler, async (baseUrl, asked) => {
    const range = { timeframe: "1m", start: 0, end: MINUTE } as const;
    const fault = async (symbol: string, feed = new BinanceFeed({ baseUrl })) =>
      await faultOf(fetchAll(feed, { ...range, instrument: { ...crypto, symbol } }));
    const feed = new BinanceFeed({ baseUrl });
    expect(await fault("BUSY", feed)).toMatchObject({ fault: "rate_limited", retryAfterSeconds: 7 });
    // It is not asked again before that time.
    const before = asked.length;
    expect((await fault("DOWN", feed)).fault).toBe("rate_limited");
    expect(asked.length).toBe(before);
    expect(await fault("BANNED")).toMatchObject({ fault: "rate_limited", retryAfterSeconds: 180 });
    expect((await fault("NOPE")).fault).toBe("unknown_symbol");
    expect((await fault("DOWN")).message).toBe("Cannot use Binance: it answered 502: <html>bad gateway</html>");
    expect((await fault("WRONG")).fault).toBe("refused");
    expect((await fault("ODD")).fault).toBe("refused");
    expect((await fault("BLOCKED")).fault).toBe("refused");
    // Neither is what the exchange says: someone between has answered, or cut it off.
    expect((await fault("TEXT")).fault).toBe("failed");
    expect((await fault("日本")).fault).toBe("unknown_symbol");
    const askedSoFar = asked.length;
    expect((await fault("/")).fault).toBe("unknown_symbol");
    expect(asked.length).toBe(askedSoFar);
  });
  const gone = await faultOf(
    fetchAll(new BinanceFeed({ baseUrl: "http://127.0.0.1:1" }), {
      instrument: crypto,
      timeframe: "1m",
      start: 0,
      end: 1,
    }),
  );
  expect(gone.fault).toBe("failed");
});

Deno.test("a late answer fails, and an aborted request ends at once", async () => {
  const released = Promise.withResolvers<void>();
  const handler: Handler = async () => {
    await released.promise;
    return Response.json([]);
  };
  await withProvider(handler, async (baseUrl) => {
    const request = { instrument: crypto, timeframe: "1m", start: 0, end: MINUTE } as const;
    const slow = await faultOf(fetchAll(new BinanceFeed({ baseUrl, timeoutMs: 50 }), request));
    expect([slow.fault, slow.message]).toEqual(["failed", "Cannot reach Binance: it did not answer in time"]);
    const controller = new AbortController();
    const stopped = fetchAll(new BinanceFeed({ baseUrl }), { ...request, signal: controller.signal });
    controller.abort(new Error("The test has seen enough"));
    await expect(stopped).rejects.toThrow("The test has seen enough");
    released.resolve();
  });
});

Deno.test("requests stay within the provider's limit, by its own count", async () => {
  let clock = at("2024-01-01T00:00:30Z");
  await withProvider(binance([]), async (baseUrl, asked) => {
    // The server says that 12 are used in this minute, and each request is 2: the first fits, and one more.
    const feed = new BinanceFeed({ baseUrl, now: () => clock, budget: { weightMax: 14, windowMs: MINUTE } });
    const request = { instrument: crypto, timeframe: "1m", start: 0, end: MINUTE } as const;
    await fetchAll(feed, request);
    await fetchAll(feed, request);
    expect(await faultOf(fetchAll(feed, request))).toMatchObject({ fault: "rate_limited", retryAfterSeconds: 30 });
    expect(asked.length).toBe(2);
    clock += 30_000;
    await fetchAll(feed, request);
    expect(asked.length).toBe(3);
  });
});
