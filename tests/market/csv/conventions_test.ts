import { expect } from "@std/expect";
import type { Traded } from "../../../market/calendar/exchange_sessions.ts";
import { FOREX, HEADER, lines, read, STOCK } from "./read_file.ts";

Deno.test("weeks open on Mondays", () => {
  const { times, rejected } = read(`${HEADER}2024-01-08,1,3,0.5,2,10\n2024-01-14,1,3,0.5,2,10\n`, "1w");
  expect([times, rejected.length]).toEqual([["2024-01-08"], 1]);
});

Deno.test("a stock's days are dates of its exchange, before and after the clocks change", () => {
  const days = ["2024-03-08 00:00:00-05:00", "2024-03-11 00:00:00-04:00", "2024-05-30T00:00:00.000+0900", "2024-05-31"];
  const file = HEADER + days.map((day) => `${day},1,1,1,1,1\n`).join("");
  const stock = read(file, "1d", Infinity, STOCK);
  expect([stock.times, stock.rejected]).toEqual([["2024-03-08", "2024-03-11", "2024-05-30", "2024-05-31"], []]);
  // Crypto trades day and night, so a midnight with an offset would close the candle hours too early.
  expect(read(file).rejected.map(({ reason }) => reason)).toEqual([
    expect.stringContaining("2024-03-08T05:00:00.000Z is no opening time of a 1d candle"),
    expect.stringContaining("2024-03-11T04:00:00.000Z is no opening time of a 1d candle"),
    expect.stringContaining("2024-05-29T15:00:00.000Z is no opening time of a 1d candle"),
  ]);
  const weeks = read(`${HEADER}2024-03-11 00:00:00-04:00,1,1,1,1,1\n2024-03-19,1,1,1,1,1\n`, "1w", Infinity, STOCK);
  expect([weeks.times, weeks.rejected.map(({ line }) => line)]).toEqual([["2024-03-11"], [3]]);
  // The open of a day's trade is not its midnight, and another file's days may begin with it; an hour has no date.
  const open = read(`${HEADER}2024-03-08 09:30:00-05:00,1,1,1,1,1\n`, "1d", Infinity, STOCK);
  expect(open.times).toEqual(["2024-03-08"]);
  const hours = read(`${HEADER}2024-03-08 00:00:00-05:00,1,1,1,1,1\n`, "1h", Infinity, STOCK);
  expect(new Date(hours.rows[0]![0]!).toISOString()).toBe("2024-03-08T05:00:00.000Z");
});

Deno.test("a file is read by the convention that all its lines follow, and says which", () => {
  // The clocks of New York change between Friday 8 March and Monday 11 March 2024.
  const dated = ["2024-03-08", "2024-03-11"];
  const cases: readonly (readonly [Traded, readonly string[], string])[] = [
    [STOCK, ["2024-03-08", "2024-03-11"], "stamped at 00:00 UTC of the date"],
    [
      STOCK,
      ["2024-03-08T09:30-05:00", "2024-03-11T09:30-04:00"],
      "stamped at the open of the session (America/New_York)",
    ],
    [STOCK, ["2024-03-08T14:30Z", "2024-03-11T13:30Z"], "stamped at the open of the session (America/New_York)"],
    [STOCK, ["2024-03-08T00:00-05:00", "2024-03-11T00:00-04:00"], "stamped at 00:00 of the date where it was written"],
    [STOCK, ["2024-03-08T05:00Z", "2024-03-11T04:00Z"], "stamped at 00:00 of America/New_York"],
    [FOREX, ["2024-03-07T22:00Z", "2024-03-10T21:00Z"], "stamped at the open of the session (America/New_York)"],
    [FOREX, ["2024-03-07T22:00Z", "2024-03-10T22:00Z"], "stamped at 21:00 or 22:00 UTC of the evening before"],
  ];
  for (const [instrument, times, convention] of cases) {
    expect(read(lines(...times), "1d", Infinity, instrument)).toMatchObject({ times: dated, convention, rejected: [] });
  }
});

Deno.test("months may bear the date of their first or last day, by the calendar or as traded", () => {
  const months = ["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"];
  const CRYPTO: Traded = { assetClass: "crypto", exchange: "X" };
  const first = "stamped at 00:00 UTC of the date, the first of its month or the first that was traded";
  const last = "stamped at 00:00 UTC of the date, the last of its month or the last that was traded";
  const cases: readonly (readonly [Traded, readonly string[], string])[] = [
    [CRYPTO, months, first],
    [CRYPTO, ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"], last],
    // New Year and Easter Monday are holidays.
    [STOCK, ["2024-01-02", "2024-02-01", "2024-03-01", "2024-04-02"], first],
    // Good Friday was 29 March 2024.
    [STOCK, ["2024-01-31", "2024-02-29", "2024-03-28", "2024-04-30"], last],
    [FOREX, ["2024-01-02", "2024-02-01", "2024-03-01", "2024-04-01"], first],
    [
      STOCK,
      ["2024-01-02T09:30-05:00", "2024-02-01T09:30-05:00", "2024-03-01T09:30-05:00", "2024-04-01T09:30-04:00"],
      "stamped at the open of the session (America/New_York), the first of its month or the first that was traded",
    ],
  ];
  for (const [instrument, times, convention] of cases) {
    expect(read(lines(...times), "1M", Infinity, instrument)).toMatchObject({
      times: months,
      convention,
      rejected: [],
    });
    const newestFirst = read(lines(...times.toReversed()), "1M", Infinity, instrument);
    expect(newestFirst).toMatchObject({ times: months, rejected: [] });
  }
  // One convention holds for the whole file, and crypto rests on no day.
  const refused = (...times: readonly string[]) => read(lines(...times), "1M").rejected.map(({ reason }) => reason);
  expect(refused("2024-01-01", "2024-02-29", "2024-03-02", "2024-03-15")).toEqual([
    expect.stringContaining("2024-02-29T00:00:00.000Z is no opening time of a 1M candle; the nearest: 2024-02-01"),
    expect.stringContaining("2024-03-02"),
    expect.stringContaining("2024-03-15"),
  ]);
  expect(refused("2024-05-31", "2024-06-30")).toEqual(["2024-06-01T00:00:00.000Z is a candle that has not closed yet"]);
  expect(refused("2024-01-01", "2024-01-01")).toEqual(["has the same time as line 2"]);
});

Deno.test("weeks may bear the date of their Monday or first trading day, and of forex the Sunday on which they open", () => {
  const traded = "the Monday of its week or the first day that was traded";
  const dates = "stamped at 00:00 UTC of the date";
  const atOpen = "stamped at the open of the session (America/New_York)";
  const cases: readonly (readonly [Traded, readonly string[], readonly string[], string])[] = [
    // Presidents' Day was Monday 19 February 2024.
    [
      STOCK,
      ["2024-02-12", "2024-02-20", "2024-02-26"],
      ["2024-02-12", "2024-02-19", "2024-02-26"],
      `${dates}, ${traded}`,
    ],
    [
      STOCK,
      ["2024-02-12T14:30Z", "2024-02-20T14:30Z", "2024-02-26T14:30Z", "2024-03-11T13:30Z"],
      ["2024-02-12", "2024-02-19", "2024-02-26", "2024-03-11"],
      `${atOpen}, ${traded}`,
    ],
    // A storm closed New York on Monday and Tuesday.
    [
      STOCK,
      ["2012-10-22", "2012-10-31", "2012-11-05"],
      ["2012-10-22", "2012-10-29", "2012-11-05"],
      `${dates}, ${traded}`,
    ],
    // New York's clock changes on Sunday 10 March 2024.
    [FOREX, ["2024-03-03T22:00Z", "2024-03-10T21:00Z"], ["2024-03-04", "2024-03-11"], `${atOpen}, ${traded}`],
    // Christmas was a Monday: the first session opens that evening.
    [
      FOREX,
      ["2023-12-17T22:00Z", "2023-12-25T22:00Z", "2024-01-01T22:00Z"],
      ["2023-12-18", "2023-12-25", "2024-01-01"],
      `${atOpen}, ${traded}`,
    ],
    [
      FOREX,
      ["2023-12-18", "2023-12-26", "2024-01-02"],
      ["2023-12-18", "2023-12-25", "2024-01-01"],
      `${dates}, ${traded}`,
    ],
    [
      FOREX,
      ["2023-12-17", "2023-12-25", "2024-01-01", "2024-01-07"],
      ["2023-12-18", "2023-12-25", "2024-01-01", "2024-01-08"],
      `${dates}, the Sunday on which its week opens`,
    ],
  ];
  for (const [instrument, times, weeks, convention] of cases) {
    const expected = { times: weeks, convention, rejected: [], timeframe: "1w" };
    expect(read(lines(...times), "1w", Infinity, instrument)).toMatchObject(expected);
    expect(read(lines(...times.toReversed()), null, Infinity, instrument)).toMatchObject(expected);
  }
  const refused = (instrument: Traded, ...times: readonly string[]) =>
    read(lines(...times), "1w", Infinity, instrument).rejected.map(({ reason }) => reason);
  expect(refused(STOCK, "2024-03-11", "2024-03-19", "2024-03-24")).toEqual([
    `2024-03-19T00:00:00.000Z is no opening time of a 1w candle; the nearest: 2024-03-18T00:00:00.000Z (${
      dates.replace("stamped ", "")
    }, ${traded})`,
    expect.stringContaining("2024-03-24"),
  ]);
  // Holidays elsewhere are not known, and one convention holds for the whole file.
  expect(refused({ assetClass: "stock", exchange: "XETRA" }, "2024-02-12", "2024-02-20")).toHaveLength(1);
  expect(refused(FOREX, "2024-03-03", "2024-03-11")).toHaveLength(1);
  expect(refused(FOREX, "2024-03-04", "2024-03-09", "2024-03-12")).toHaveLength(2);
});

Deno.test("hours at half past belong to a session, and a file that mixes conventions is refused by its first line's", () => {
  const half = read(lines("2024-03-08T14:30Z", "2024-03-08T15:30Z", "2024-03-11T13:30Z"), "1h", Infinity, STOCK);
  expect(half).toMatchObject({ rejected: [], convention: "stamped from the open of the session (America/New_York)" });
  expect(half.rows.map(([time]) => new Date(time!).toISOString().slice(11, 16))).toEqual(["14:30", "15:30", "13:30"]);
  const full = read(lines("2024-03-08T14:00Z", "2024-03-08T15:30Z"), "1h", Infinity, STOCK);
  expect(full.convention).toBe("stamped by the clock of UTC");
  expect(full.rejected.map(({ reason }) => reason)).toEqual([
    "2024-03-08T15:30:00.000Z is no opening time of a 1h candle; the nearest: 2024-03-08T15:00:00.000Z (by the clock of UTC)",
  ]);
  const neither = read(lines("2024-03-08T14:45Z"), "1h", Infinity, STOCK);
  expect(neither).toMatchObject({ rows: [], convention: null });
  expect(neither.rejected[0]?.reason).toBe(
    "2024-03-08T14:45:00.000Z is no opening time of a 1h candle; the nearest: 2024-03-08T14:30:00.000Z " +
      "(from the open of the session (America/New_York)) or 2024-03-08T14:00:00.000Z (by the clock of UTC)",
  );
  // Some files cut the hour of the clock in which the market opens.
  const cut = read(lines("2024-03-08T14:30Z", "2024-03-08T15:00Z", "2024-03-08T16:00Z"), "1h", Infinity, STOCK);
  expect(cut.convention).toBe("stamped by the clock of America/New_York, with the open of the session");
  expect(cut.rows.length).toBe(3);
});
