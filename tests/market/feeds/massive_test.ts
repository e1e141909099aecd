import type { AssetClass } from "../../../db/instruments.ts";
import type { Hours } from "../../../market/calendar/exchange_sessions.ts";
import type { Timeframe } from "../../../market/timeframes.ts";
import { expect } from "@std/expect";
import { MassiveFeed } from "../../../market/feeds/massive.ts";
import { faultOf, fetchAll, type Handler, withProvider } from "../../support/provider.ts";

const at = (iso: string) => Date.parse(iso);
const MINUTE = 60_000;
const crypto = { symbol: "BTC/USDT", exchange: "BINANCE", assetClass: "crypto" } as const;
const forex = { symbol: "EUR/USD", exchange: "DUKASCOPY", assetClass: "forex" } as const;
const stock = { symbol: "AAPL", exchange: "MASSIVE", assetClass: "stock" } as const;

const bar = (t: number, c = 2) => ({ t, o: 1, h: 3, l: 0.5, c, v: 10.5, vw: 1.5, n: 3 });
const massiveAt = (baseUrl: string) => new MassiveFeed({ baseUrl, apiKey: "the key", requestsPerMinute: 100 });

Deno.test("Massive: pages are followed on the configured host alone, with the key in a header", async () => {
  const start = at("2024-01-31T23:58Z");
  const keys: (string | null)[] = [];
  const handler: Handler = (url, request) => {
    keys.push(request.headers.get("authorization"));
    const page = { ticker: "X:BTCUSD", status: "OK", adjusted: true, resultsCount: 1 };
    if (url.searchParams.has("cursor")) return Response.json({ ...page, results: [bar(start + MINUTE)] });
    const next_url = "https://elsewhere.example.com/v2/aggs/next?cursor=abc";
    if (url.pathname.includes(`/${start}/`)) return Response.json({ ...page, results: [bar(start)], next_url });
    return Response.json({ ...page, results: [bar(at("2024-02-01T00:00Z"))] });
  };
  await withProvider(handler, async (baseUrl, asked) => {
    const instrument = { ...crypto, symbol: "BTC/USD" };
    const got = await fetchAll(massiveAt(baseUrl), {
      instrument,
      timeframe: "1m",
      start,
      end: at("2024-02-01T00:02Z"),
    });
    expect(got.rows.map(([time]) => time)).toEqual([
      "2024-01-31T23:58:00.000Z",
      "2024-01-31T23:59:00.000Z",
      "2024-02-01T00:00:00.000Z",
    ]);
    // A month a request.
    expect(got.ranges).toEqual([
      ["2024-01-31T23:58:00.000Z", "2024-02-01T00:00:00.000Z"],
      ["2024-02-01T00:00:00.000Z", "2024-02-01T00:02:00.000Z"],
    ]);
    const february = at("2024-02-01");
    expect(asked).toEqual([
      `/v2/aggs/ticker/X%3ABTCUSD/range/1/minute/${start}/${february - 1}?adjusted=true&sort=asc&limit=50000`,
      "/v2/aggs/next?cursor=abc",
      `/v2/aggs/ticker/X%3ABTCUSD/range/1/minute/${february}/${
        february + 2 * MINUTE - 1
      }?adjusted=true&sort=asc&limit=50000`,
    ]);
    expect(new Set(keys)).toEqual(new Set(["Bearer the key"]));
  });
});

Deno.test("Massive: stock days are dated by New York, in winter and in summer", async () => {
  // 00:00 in New York is 05:00 UTC on Friday 8 March 2024 and 04:00 UTC on Monday 11 March.
  const results = [bar(at("2024-03-08T05:00Z")), bar(at("2024-03-11T04:00Z"), 2.5)];
  await withProvider(() => Response.json({ status: "DELAYED", results }), async (baseUrl, asked) => {
    const feed = massiveAt(baseUrl);
    const source = (timeframe: Timeframe, ...more: [AssetClass, Hours?]) => feed.sourceTimeframe(timeframe, ...more);
    expect([source("1w", "crypto"), source("4h", "crypto"), source("15m", "crypto")]).toEqual(["1d", "1h", "15m"]);
    // Its hours of stocks begin at full hours, and its days of forex at midnight: neither keeps to the session.
    expect([source("1h", "stock"), source("1w", "stock"), source("1d", "stock", "extended")]).toEqual([
      "30m",
      "1d",
      "30m",
    ]);
    expect([source("1d", "forex"), source("4h", "forex")]).toEqual(["1h", "1h"]);
    expect([source("3m", "stock"), source("6h", "stock"), source("12h", "forex"), source("2h", "crypto")]).toEqual([
      ...["3m", "30m", "1h", "1h"],
    ]);
    expect([source("1M", "crypto"), source("1M", "stock"), source("1M", "stock", "extended")]).toEqual([
      ...["1d", "1d", "30m"],
    ]);
    const got = await fetchAll(feed, {
      instrument: stock,
      timeframe: "1d",
      start: at("2024-03-04"),
      end: at("2024-03-12"),
    });
    expect(got.rows.map(([time, , , , close]) => [time, close])).toEqual([
      ["2024-03-08T00:00:00.000Z", 2],
      ["2024-03-11T00:00:00.000Z", 2.5],
    ]);
    expect(asked).toEqual([
      "/v2/aggs/ticker/AAPL/range/1/day/2024-03-04/2024-03-11?adjusted=true&sort=asc&limit=50000",
    ]);
  });
});

Deno.test("Massive: a day that goes on in New York is no candle yet, though UTC's has ended", async () => {
  // 03:00 UTC on Tuesday 12 March 2024 is 23:00 on Monday in New York, and 05:00 is 01:00 on Tuesday.
  const results = [bar(at("2024-03-08T05:00Z")), bar(at("2024-03-11T04:00Z"), 2.5)];
  await withProvider(() => Response.json({ status: "OK", results }), async (baseUrl) => {
    const fetchAt = async (now: string, start = "2024-03-08") => {
      const feed = new MassiveFeed({ baseUrl, apiKey: "k", requestsPerMinute: 100, now: () => at(now) });
      const range = { start: at(start), end: at("2024-03-12") };
      const { rows, ranges } = await fetchAll(feed, { instrument: stock, timeframe: "1d", ...range });
      return [rows.length, ranges.map(([, until]) => until)];
    };
    expect(await fetchAt("2024-03-12T03:00Z")).toEqual([1, ["2024-03-11T00:00:00.000Z"]]);
    expect(await fetchAt("2024-03-12T00:00Z")).toEqual([1, ["2024-03-11T00:00:00.000Z"]]);
    expect(await fetchAt("2024-03-12T03:00Z", "2024-03-11")).toEqual([0, []]);
    expect(await fetchAt("2024-03-12T05:00Z")).toEqual([2, ["2024-03-12T00:00:00.000Z"]]);
  });
});

Deno.test("Massive: an hour is final 15 minutes after its close", async () => {
  const results = [bar(at("2024-03-08T14:00Z")), bar(at("2024-03-08T15:00Z"), 2.5)];
  await withProvider(() => Response.json({ status: "DELAYED", results }), async (baseUrl) => {
    const fetchAt = async (now: string) => {
      const feed = new MassiveFeed({ baseUrl, apiKey: "k", requestsPerMinute: 100, now: () => at(now) });
      const range = { start: at("2024-03-08T14:00Z"), end: at("2024-03-08T16:00Z") };
      const { rows, ranges } = await fetchAll(feed, { instrument: stock, timeframe: "1h", ...range });
      return [rows.length, ranges.map(([, until]) => until)];
    };
    expect(await fetchAt("2024-03-08T15:14Z")).toEqual([0, []]);
    expect(await fetchAt("2024-03-08T16:02Z")).toEqual([1, ["2024-03-08T15:00:00.000Z"]]);
    expect(await fetchAt("2024-03-08T16:15Z")).toEqual([2, ["2024-03-08T16:00:00.000Z"]]);
  });
});

Deno.test("Massive: a day that ends at UTC's midnight is final 15 minutes later", async () => {
  const results = [bar(at("2024-03-08")), bar(at("2024-03-09"), 2.5)];
  await withProvider(() => Response.json({ status: "DELAYED", results }), async (baseUrl) => {
    const fetchAt = async (now: string) => {
      const feed = new MassiveFeed({ baseUrl, apiKey: "k", requestsPerMinute: 100, now: () => at(now) });
      const range = { start: at("2024-03-08"), end: at("2024-03-10") };
      const { rows, ranges } = await fetchAll(feed, { instrument: crypto, timeframe: "1d", ...range });
      return [rows.length, ranges.map(([, until]) => until)];
    };
    expect(await fetchAt("2024-03-10T00:02Z")).toEqual([1, ["2024-03-09T00:00:00.000Z"]]);
    expect(await fetchAt("2024-03-10T00:15Z")).toEqual([2, ["2024-03-10T00:00:00.000Z"]]);
  });
});

Deno.test("Massive: stock tickers are sent as written, and pairs without separators", async () => {
  await withProvider(() => Response.json({ status: "OK" }), async (baseUrl, asked) => {
    const range = { timeframe: "1d", start: at("2024-01-01"), end: at("2024-01-02") } as const;
    for (
      const instrument of [{ ...stock, symbol: "BACpL" }, { ...stock, symbol: "BRK.B" }, {
        ...forex,
        symbol: "eur-usd",
      }]
    ) await fetchAll(massiveAt(baseUrl), { ...range, instrument });
    expect(asked.map((path) => path.split("/")[4])).toEqual(["BACpL", "BRK.B", "C%3AEURUSD"]);
  });
});

Deno.test("Massive: a redirect to another host does not get the key", async () => {
  const seen: (string | null)[] = [];
  const elsewhere: Handler = (_, request) => {
    seen.push(request.headers.get("authorization"));
    return Response.json({ status: "OK" });
  };
  await withProvider(elsewhere, async (otherUrl) => {
    await withProvider(() => Response.redirect(otherUrl.replace("127.0.0.1", "localhost")), async (baseUrl) => {
      const range = { timeframe: "1d", start: at("2024-01-01"), end: at("2024-01-02") } as const;
      await fetchAll(massiveAt(baseUrl), { ...range, instrument: stock });
      expect(seen).toEqual([null]);
    });
  });
});

Deno.test("Massive: each kind of error has its fault, and an empty answer is empty", async () => {
  const range = { timeframe: "1d", start: at("2024-01-01"), end: at("2024-01-05") } as const;
  const cases = [
    [() => Response.json({ status: "ERROR", error: "exceeded" }, { status: 429 }), "rate_limited"],
    [() => Response.json({ status: "NOT_AUTHORIZED", message: "no" }, { status: 403 }), "refused"],
    [() => new Response("", { status: 500 }), "failed"],
    [() => new Response('{"status":"OK","results":[{"t":1'), "failed"],
    [() => Response.json({ status: "ERROR", error: "no results for another reason" }), "refused"],
    [() => Response.json({ status: "OK", results: [], next_url: "the rest" }), "refused"],
    [() => Response.json({ status: "OK", results: [{ t: "x" }] }), "refused"],
    [() => Response.json({ status: "OK", results: [], next_url: "https://x.example.com/again" }), "refused"],
  ] as const;
  for (const [answer, fault] of cases) {
    await withProvider(answer, async (baseUrl) => {
      const feed = new MassiveFeed({ baseUrl, apiKey: "k", requestsPerMinute: 1_000 });
      expect((await faultOf(fetchAll(feed, { ...range, instrument: stock }))).fault).toBe(fault);
    });
  }
  await withProvider(
    () => Response.json({ status: "OK", queryCount: 0, resultsCount: 0, adjusted: true }),
    async (baseUrl) => {
      expect((await fetchAll(massiveAt(baseUrl), { ...range, instrument: { ...forex, symbol: "EURUSD" } })).rows)
        .toEqual([]);
    },
  );
});
