import { expect } from "@std/expect";
import {
  bucketStart,
  bucketStartAtOrAfter,
  candleEnd,
  divides,
  fixedMs,
  isCoarser,
  isDaily,
  isTimeframe,
  longestMs,
  shortestMs,
  TIMEFRAME_MS,
  TIMEFRAME_NAMES,
} from "../../market/timeframes.ts";

const at = (iso: string) => Date.parse(iso);
const iso = (timeMs: number) => new Date(timeMs).toISOString();

Deno.test("the names are the timeframes, shortest first", () => {
  const sorted = Object.entries(TIMEFRAME_MS).sort(([, a], [, b]) => a - b).map(([name]) => name);
  expect([...TIMEFRAME_NAMES]).toEqual([...sorted, "1M"]);
  expect(isTimeframe("2m") || isTimeframe("toString")).toBe(false);
});

Deno.test("a candle opens on a UTC boundary, and a week on Monday", () => {
  expect(iso(bucketStart(at("2024-02-29T23:59:59.999Z"), "1m"))).toBe("2024-02-29T23:59:00.000Z");
  expect(iso(bucketStart(at("2024-02-29T23:59:59.999Z"), "4h"))).toBe("2024-02-29T20:00:00.000Z");
  expect(iso(bucketStart(at("2024-02-29T23:59:59.999Z"), "1d"))).toBe("2024-02-29T00:00:00.000Z");
  // 2024-02-29 was a Thursday, 2024-02-26 the Monday of its week; 2024-12-30 the Monday before the new year.
  expect(iso(bucketStart(at("2024-02-29T23:59:59.999Z"), "1w"))).toBe("2024-02-26T00:00:00.000Z");
  expect(iso(bucketStart(at("2025-01-01T00:00:00Z"), "1w"))).toBe("2024-12-30T00:00:00.000Z");
  expect(iso(bucketStart(at("2024-12-30T00:00:00Z"), "1w"))).toBe("2024-12-30T00:00:00.000Z");
});

Deno.test("times before 1970 have buckets too", () => {
  expect(iso(bucketStart(-1, "1h"))).toBe("1969-12-31T23:00:00.000Z");
  expect(iso(bucketStart(0, "1w"))).toBe("1969-12-29T00:00:00.000Z");
});

Deno.test("the first open at or after a moment", () => {
  expect(iso(bucketStartAtOrAfter(at("2024-01-01T00:00:00Z"), "1w"))).toBe("2024-01-01T00:00:00.000Z");
  expect(iso(bucketStartAtOrAfter(at("2024-01-01T00:00:01Z"), "1w"))).toBe("2024-01-08T00:00:00.000Z");
});

Deno.test("a month is a calendar month of 28 to 31 days", () => {
  const month = (time: string) => {
    const start = bucketStart(at(time), "1M");
    return [iso(start).slice(0, 10), (candleEnd(start, "1M") - start) / 86_400_000];
  };
  expect(month("2024-02-29T23:59:59.999Z")).toEqual(["2024-02-01", 29]);
  expect(month("2023-02-01T00:00:00Z")).toEqual(["2023-02-01", 28]);
  expect(month("1969-12-31T23:59:59Z")).toEqual(["1969-12-01", 31]);
  expect(iso(bucketStartAtOrAfter(at("2024-12-01T00:00:00.001Z"), "1M"))).toBe("2025-01-01T00:00:00.000Z");
  expect(iso(bucketStartAtOrAfter(at("2024-12-01T00:00:00Z"), "1M"))).toBe("2024-12-01T00:00:00.000Z");
  expect([fixedMs("1M"), shortestMs("1M"), longestMs("1M")]).toEqual([null, 28 * 86_400_000, 31 * 86_400_000]);
  expect([isCoarser("1M", "1w"), isCoarser("1w", "1M"), isDaily("1M"), isDaily("1m")]).toEqual([
    ...[true, false, true, false],
  ]);
  expect(isTimeframe("1M") && isTimeframe("1m") && !isTimeframe("1mo")).toBe(true);
});

Deno.test("minutes make hours and days make weeks", () => {
  expect(divides("1m", "1w") && divides("1d", "1w") && divides("4h", "1d") && divides("1h", "1h")).toBe(true);
  expect(divides("1h", "15m")).toBe(false);
  expect(TIMEFRAME_NAMES.filter((name) => divides(name, "6h"))).toEqual([
    ...["1m", "3m", "5m", "15m", "30m", "1h", "2h", "6h"],
  ]);
  expect(TIMEFRAME_NAMES.filter((name) => divides("3m", name))).toEqual([
    ...["3m", "15m", "30m", "1h", "2h", "4h", "6h", "12h", "1d", "1w", "1M"],
  ]);
  // A week may begin in one month and end in the next.
  expect(TIMEFRAME_NAMES.filter((name) => divides(name, "1M"))).toEqual([
    ...["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "12h", "1d", "1M"],
  ]);
  expect(TIMEFRAME_NAMES.filter((name) => divides("1M", name))).toEqual(["1M"]);
});
