import { expect } from "@std/expect";
import type { Traded } from "../../../market/calendar/exchange_sessions.ts";
import type { Timeframe } from "../../../market/timeframes.ts";
import { HEADER, lines, read, STOCK } from "./read_file.ts";

Deno.test("a plain file is read with its columns in any order and case, and with other columns", () => {
  const plain = read(`${HEADER}2024-01-02,1,3,0.5,2,10\n2024-01-03,2,4,1.5,3,20\n`);
  expect(plain.times).toEqual(["2024-01-02", "2024-01-03"]);
  expect(plain.rows.map(([, close, volume]) => [close, volume])).toEqual([[2, 10], [3, 20]]);
  for (
    const file of [
      "Volume,CLOSE,Low,High,Adj Close,open,Timestamp\n10,2,0.5,3,99,1,2024-01-02\n20,3,1.5,4,98,2,2024-01-03",
      ",Open,High,Low,Close,Volume\n2024-01-02,1,3,0.5,2,10\n2024-01-03,2,4,1.5,3,20\n",
      '"Date", "Open" ,"High","Low","Close","Volume"\r\n"2024-01-02","1","3","0.5","2","10"\r\n2024-01-03 , 2,4, 1.5,3,20\r\n',
      `\uFEFF${HEADER}\n2024-01-02,1,3,0.5,2,10\n\n\n2024-01-03,2,4,1.5,3,20\n\n`,
      'date,"Volume, in shares","Traded ""lots""",open,high,low,close,volume\n2024-01-02,"1,0",7,1,3,0.5,2,10\n2024-01-03,"2,0",7,2,4,1.5,3,20',
      "index,datetime,open,high,low,close,volume\n0,1704153600000,1,3,0.5,2,10\n1,1704240000,2,4,1.5,3,20\n",
    ]
  ) expect(read(file)).toEqual(plain);
});

Deno.test("a file gives the same candles in pieces of any size", () => {
  const file = `\uFEFF${HEADER}2024-01-02,1,3,0.5,2,10\r\n2024-01-03,2,4,x,3,20\r\n2024-01-04,2,4,1.5,3,20`;
  const whole = read(file);
  expect([whole.times, whole.rejected.map(({ line }) => line)]).toEqual([["2024-01-02", "2024-01-04"], [3]]);
  for (let size = 1; size < file.length; size++) expect(read(file, "1d", size)).toEqual(whole);
});

Deno.test("a line without a candle is rejected with its number and reason, and the others are kept", () => {
  const lines = [
    ["2024-01-01,1,3,0.5,2,10", null],
    ["2024-01-02,1,3,0.5,2,10", null],
    ["2023-02-29,1,3,0.5,2,10", '"2023-02-29" is not a time that exists (write 2024-12-31 or 2024-12-31 23:59)'],
    ["2024-01-03,1,3,0.5,NaN,10", 'close "NaN" is not a number (write 1234.5)'],
    ["2024-01-03,1,3,0.5,,10", 'close "" is not a number (write 1234.5)'],
    ["2024-01-03,1,2,3,2.5,10", "high 2 is below low 3"],
    ["2024-01-03,4,3,0.5,2,10", "high 3 is below open 4"],
    ["2024-01-03,1,3,0.5,4,10", "high 3 is below close 4"],
    ["2024-01-03,1,3,2,2,10", "low 2 is above open 1"],
    ["2024-01-03,2,3,1.5,1,10", "low 1.5 is above close 1"],
    ["2024-01-03,1,3,0.5,2,-1", "volume -1 is below 0"],
    ["2024-01-03,1,1e999,0.5,2,1", "high Infinity is not a finite number"],
    ["2024-01-03,0,0,0,0,1", "open 0 is not above 0"],
    ["2024-01-03,1,3,0.5,2", "has 5 fields where the header has 6"],
    ["2024-01-03,1,3,0.5,2,10,11", "has 7 fields where the header has 6"],
    ['2024-01-03,"1,5",3,0.5,2,10', 'open "1,5" is not a number (write 1234.5)'],
    ['2024-01-03,"1.234,50",3,0.5,2,10', 'open "1.234,50" is not a number (write 1234.5)'],
    ['2024-01-03,"1,234.50",3,0.5,2,10', "high 3 is below open 1234.5"],
    ["01/03/2024,1,3,0.5,2,10", '"01/03/2024" is not a time that exists (write 2024-12-31 or 2024-12-31 23:59)'],
    ['2024-01-03,"1,3,0.5,2,10', "has 2 fields where the header has 6"],
    [
      "2024-01-03T12:00:00Z,1,3,0.5,2,10",
      "2024-01-03T12:00:00.000Z is no opening time of a 1d candle; the nearest: 2024-01-03T00:00:00.000Z (at 00:00 UTC of the date)",
    ],
    ["2024-01-02,1,3,0.5,2,10", "has the same time as line 3"],
    ["2024-01-01,1,3,0.5,2,10", "is earlier than line 3"],
    ["2024-06-01,1,3,0.5,2,10", "2024-06-01T00:00:00.000Z is a candle that has not closed yet"],
    ["2034-01-01,1,3,0.5,2,10", "2034-01-01T00:00:00.000Z is a candle that has not closed yet"],
    ["0000-01-01,1,3,0.5,2,10", "0000-01-01T00:00:00.000Z is before 1800"],
    ["2024-05-31,1e-8,1e9,1e-8,1e9,0", null],
  ] as const;
  const { times, rejected, rejectedCount, rows } = read(HEADER + lines.map(([line]) => line).join("\n"));
  expect(times).toEqual(["2024-01-01", "2024-01-02", "2024-05-31"]);
  expect(rows[2]!.slice(1)).toEqual([1e9, 0]);
  const expected = lines.flatMap(([, reason], index) => reason === null ? [] : [{ line: index + 2, reason }]);
  expect(rejected).toEqual(expected);
  expect(rejectedCount).toBe(expected.length);
});

Deno.test("a file that begins with the newest candle is read like one that begins with the oldest", () => {
  const { times, rejected, rows } = read(
    `${HEADER}2024-06-01,9,9,9,9,9\n2024-03-04,4,4,4,4,4\n2024-03-01,3,3,3,3,3\n2024-03-01,1,1,1,1,1\n2024-03-02,1,1,1,1,1\n` +
      "2024-02-29,2,2,2,2,2\n2024-01-02,1,1,1,1,1\n",
  );
  expect(times).toEqual(["2024-01-02", "2024-02-29", "2024-03-01", "2024-03-04"]);
  expect(rows.map(([, close, volume]) => [close, volume])).toEqual([[1, 1], [2, 2], [3, 3], [4, 4]]);
  expect(rejected).toEqual([
    // The candle of today, which many exports begin with.
    { line: 2, reason: "2024-06-01T00:00:00.000Z is a candle that has not closed yet" },
    { line: 5, reason: "has the same time as line 4" },
    { line: 6, reason: "is later than line 4, in a file that begins with the newest" },
  ]);
  expect(read(`${HEADER}2024-01-03,2,2,2,2,2\n2024-01-02,1,1,1,1,1\n`).times).toEqual(["2024-01-02", "2024-01-03"]);
});

Deno.test("the first hundred rejected lines are listed, and all are counted", () => {
  const { rejected, rejectedCount } = read(HEADER + "x\n".repeat(250));
  expect([rejected.length, rejected[99]?.line, rejectedCount]).toEqual([100, 101, 250]);
});

Deno.test("a file that is no CSV of candles is one clear error", () => {
  const cases = [
    ["", "Cannot import an empty file"],
    ["\n \r\n", "Cannot import an empty file"],
    ["date,open,high,low,volume\n", "Cannot find the column close: the header line is"],
    ["open,high,low,close,volume\n", "Cannot find the column of times (date, timestamp, time, datetime"],
    ["date,time,open,high,low,close,volume\n", "Cannot choose the column of times, date or time"],
    ["date,open,open,high,low,close,volume\n", "Cannot use two columns open: keep one"],
    ["2024-01-02,1,3,5,2,10\n", "Cannot tell the columns of a file without a header"],
    ["date;open;high;low\n", "Cannot find the column open: the header line is"],
    ["\uFEFFDate\tOpen\tHigh\tLow\tVolume\r\n", "Cannot find the column close: the header line is"],
    ["sep=,\ndate,open,high,low\n", 'the header line is "sep=,"'],
    [HEADER + "x".repeat(70_000), "Cannot read line 2: it is longer than 65536 bytes"],
    [new Uint8Array(200_000), "it is longer than 65536 bytes"],
  ] as const;
  for (const [file, message] of cases) expect(() => read(file)).toThrow(message);
});

Deno.test("batches end with a month, so that no month is written twice", () => {
  const lines = [];
  for (let time = Date.UTC(2024, 0, 1); time < Date.UTC(2024, 3, 1); time += 60_000) lines.push(`${time},1,1,1,1,1`);
  const { batches } = read(`${HEADER}${lines.join("\n")}\n`, "1m", 65_536);
  expect(batches).toEqual([(31 + 29) * 1440, 31 * 1440]);
  const backwards = read(`${HEADER}${lines.reverse().join("\n")}\n`, "1m", 65_536);
  expect(backwards.batches).toEqual([(31 + 29) * 1440, 31 * 1440]);
  expect(backwards.rows[0]?.[0]).toBe(Date.UTC(2024, 1, 1));
});

Deno.test("a stock's intraday times without a zone are hinted to be the exchange's where only they fit the session", () => {
  const hint = (instrument: Traded, timeframe: Timeframe, ...times: readonly string[]) =>
    read(lines(...times), timeframe, Infinity, instrument).zoneHint;
  const day = ["2024-03-08 09:30", "2024-03-08 09:35", "2024-03-08 15:55"];
  expect(hint(STOCK, "5m", ...day)).toMatch(/are read as UTC.*import the file again with timezone=America\/New_York/);
  expect(hint(STOCK, "5m", "2024-03-08 04:00", "2024-03-08 04:05", "2024-03-08 19:55")).toMatch(/New_York/);
  expect(hint({ ...STOCK, exchange: "TSE" }, "5m", "2024-03-08 09:00", "2024-03-08 09:05")).toMatch(/Asia\/Tokyo/);
  // New York's hours by the clock of UTC, times with a zone, epochs, days, and markets without a session.
  expect(hint(STOCK, "5m", "2024-03-08 14:30", "2024-03-08 14:35", "2024-03-08 20:55")).toBeUndefined();
  expect(hint(STOCK, "5m", ...day.map((time) => `${time}Z`))).toBeUndefined();
  expect(hint(STOCK, "5m", ...day.map((time) => String(Date.parse(`${time}Z`))))).toBeUndefined();
  expect(hint(STOCK, "1d", "2024-03-07", "2024-03-08")).toBeUndefined();
  expect(hint({ assetClass: "crypto", exchange: "X" }, "5m", ...day)).toBeUndefined();
});
