import { expect } from "@std/expect";
import { instantsOf } from "../../../workers/backtest/trading_instants.ts";

const at = (iso: string) => Date.parse(iso);
const stock = { assetClass: "stock", exchange: "NASDAQ" } as const;
const coin = { assetClass: "crypto", exchange: "KRAKEN" } as const;
const iso = (column: Float64Array) => [...column].map((moment) => `${new Date(moment).toISOString().slice(0, 16)}Z`);

Deno.test("a stock's days trade from 9:30 to 16:00 in New York, a coin's from midnight to midnight", () => {
  // A Friday and a Monday with the change to summer time between them.
  const time = Float64Array.of(at("2024-03-08"), at("2024-03-11"));
  const { opens, closes } = instantsOf(stock, time, { timeframe: "1d", hours: "regular" });
  expect(iso(opens)).toEqual(["2024-03-08T14:30Z", "2024-03-11T13:30Z"]);
  expect(iso(closes)).toEqual(["2024-03-08T21:00Z", "2024-03-11T20:00Z"]);
  // The same times of another market have instants of their own.
  const ofCoin = instantsOf(coin, time, { timeframe: "1d", hours: "regular" });
  expect(iso(ofCoin.opens)).toEqual(["2024-03-08T00:00Z", "2024-03-11T00:00Z"]);
  expect(iso(ofCoin.closes)).toEqual(["2024-03-09T00:00Z", "2024-03-12T00:00Z"]);
});

Deno.test("a day on which a market does not trade lasts from midnight to midnight there", () => {
  const saturday = Float64Array.of(at("2024-03-09"));
  const { opens, closes } = instantsOf(stock, saturday, { timeframe: "1d", hours: "regular" });
  expect(iso(opens)).toEqual(["2024-03-09T05:00Z"]);
  expect(iso(closes)).toEqual(["2024-03-10T05:00Z"]);
});

Deno.test("candles inside of a day begin with their time and end with the session at the latest", () => {
  const time = Float64Array.of(at("2024-03-08T19:30Z"), at("2024-03-08T20:30Z"));
  const { opens, closes } = instantsOf(stock, time, { timeframe: "1h", hours: "regular" });
  expect(iso(opens)).toEqual(["2024-03-08T19:30Z", "2024-03-08T20:30Z"]);
  expect(iso(closes)).toEqual(["2024-03-08T20:30Z", "2024-03-08T21:00Z"]);
});

Deno.test("days are looked up once for the same times, and no message to a worker copies them", () => {
  const time = Float64Array.of(at("2024-03-08"), at("2024-03-11"));
  const first = instantsOf(stock, time, { timeframe: "1d", hours: "regular" });
  expect(instantsOf(stock, time, { timeframe: "1d", hours: "regular" })).toBe(first);
  for (const column of [first.opens, first.closes]) expect(column.buffer).toBeInstanceOf(SharedArrayBuffer);
});
