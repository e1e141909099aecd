import { expect } from "@std/expect";
import { isGap, nextTradeTime } from "../../../market/calendar/trading_hours.ts";

const at = (iso: string) => Date.parse(iso);
const next = (assetClass: "stock" | "forex" | "crypto", iso: string) =>
  new Date(nextTradeTime(assetClass, at(iso))).toISOString().slice(0, 16);

Deno.test("crypto trades always, stocks on weekdays", () => {
  expect(next("crypto", "2024-03-02T12:34Z")).toBe("2024-03-02T12:34");
  expect(next("stock", "2024-03-01T23:59Z")).toBe("2024-03-01T23:59");
  expect(next("stock", "2024-03-02T00:00Z")).toBe("2024-03-04T00:00");
  expect(next("stock", "2024-03-03T23:59Z")).toBe("2024-03-04T00:00");
});

Deno.test("forex rests from Friday to Sunday, 17:00 in New York, in winter and in summer", () => {
  // New York is five hours behind UTC in winter, four in summer; in 2024 the clock went forward on Sunday 10 March at 07:00 UTC.
  expect(next("forex", "2024-03-01T21:59Z")).toBe("2024-03-01T21:59");
  expect(next("forex", "2024-03-01T22:00Z")).toBe("2024-03-03T22:00");
  expect(next("forex", "2024-03-08T22:00Z")).toBe("2024-03-10T21:00");
  expect(next("forex", "2024-07-05T20:59Z")).toBe("2024-07-05T20:59");
  expect(next("forex", "2024-07-05T21:00Z")).toBe("2024-07-07T21:00");
  // And back on Sunday 3 November.
  expect(next("forex", "2024-11-01T21:00Z")).toBe("2024-11-03T22:00");
});

Deno.test("a period without candles is a gap if the market was open", () => {
  const gap = (assetClass: "stock" | "forex" | "crypto", from: string, until: string) =>
    isGap(assetClass, at(from), at(until));
  expect(gap("crypto", "2024-03-02T00:00Z", "2024-03-02T00:01Z")).toBe(true);
  expect(gap("crypto", "2024-03-02T00:00Z", "2024-03-02T00:00Z")).toBe(false);
  expect(gap("stock", "2024-03-02T00:00Z", "2024-03-04T00:00Z")).toBe(false);
  expect(gap("stock", "2024-03-01T21:00Z", "2024-03-04T14:30Z")).toBe(false);
  expect(gap("stock", "2024-02-29T21:00Z", "2024-03-04T14:30Z")).toBe(true);
  expect(gap("forex", "2024-03-01T21:00Z", "2024-03-04T00:00Z")).toBe(false);
  expect(gap("forex", "2024-03-01T20:59Z", "2024-03-04T00:00Z")).toBe(true);
  expect(gap("forex", "2024-03-01T22:00Z", "2024-03-04T00:01Z")).toBe(true);
  expect(gap("forex", "2024-03-02T05:00Z", "2024-03-03T05:00Z")).toBe(false);
  // A quiet minute at night is none; an hour is one, but not at Christmas.
  expect(gap("forex", "2024-03-05T05:00Z", "2024-03-05T05:01Z")).toBe(false);
  expect(gap("forex", "2024-03-05T05:00Z", "2024-03-05T06:00Z")).toBe(true);
  expect(gap("forex", "2024-12-24T21:00Z", "2024-12-25T23:00Z")).toBe(false);
  expect(gap("forex", "2024-12-24T12:00Z", "2024-12-25T23:00Z")).toBe(true);
  // Thursday 4 July 2024, and the day after.
  expect(gap("stock", "2024-07-03T20:00Z", "2024-07-05T13:30Z")).toBe(false);
  expect(gap("stock", "2024-07-03T20:00Z", "2024-07-08T13:30Z")).toBe(true);
});
