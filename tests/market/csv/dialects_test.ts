import { expect } from "@std/expect";
import { gzipSync } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import type { Traded } from "../../../market/calendar/exchange_sessions.ts";
import type { ForcedDialect } from "../../../market/csv/dialect.ts";
import { FileText } from "../../../market/csv/file_text.ts";
import { describeDialect } from "../../../market/csv/import.ts";
import { CsvReader } from "../../../market/csv/reader.ts";
import type { Timeframe } from "../../../market/timeframes.ts";
import { PROGRAM_FILES } from "./program_files.ts";
import { SITE_FILES } from "./site_files.ts";

const NOW = Date.parse("2025-06-01");
const STOCK: Traded = { assetClass: "stock", exchange: "NYSE" };
const CRYPTO: Traded = { assetClass: "crypto", exchange: "X" };

interface Given {
  readonly timeframe?: Timeframe;
  readonly instrument?: Traded;
  readonly forced?: ForcedDialect;
  readonly bytesMax?: number;
}

/** Reads a file as an import does. */
async function read(file: Uint8Array<ArrayBuffer> | readonly string[] | ReadableStream<Uint8Array>, given: Given = {}) {
  const { timeframe = "1d", instrument = STOCK, forced = {}, bytesMax = 1_000_000 } = given;
  const body = file instanceof ReadableStream
    ? file
    : new Blob([file instanceof Uint8Array ? file : file.map((line) => `${line}\n`).join("")]).stream();
  const text = new FileText(body, bytesMax);
  const reader = new CsvReader(timeframe, NOW, instrument, forced);
  const rows: (readonly [time: string, ...values: number[]])[] = [];
  const keep = (batches: Iterable<Record<"time" | "open" | "high" | "low" | "close" | "volume", Float64Array>>) => {
    for (const { time, open, high, low, close, volume } of batches) {
      time.forEach((each, i) =>
        rows.push([
          new Date(each).toISOString().replace(":00.000Z", "Z"),
          ...[open, high, low, close, volume].map((column) => column[i]!),
        ])
      );
    }
  };
  for await (const piece of text.pieces()) keep(reader.push(piece));
  keep(reader.end());
  const { rejected, rejectedCount, convention } = reader;
  return { rows, rejected, rejectedCount, convention, dialect: describeDialect(text, reader) };
}

const timesOf = ({ rows }: Awaited<ReturnType<typeof read>>) => rows.map(([time]) => time);
const reasonsOf = ({ rejected }: Awaited<ReturnType<typeof read>>) =>
  rejected.map(({ line, reason }) => `${line} ${reason}`);

const HEADER = "date,open,high,low,close,volume";
const days = (...dates: readonly string[]) => [HEADER, ...dates.map((date) => `${date},1,1,1,1,1`)];

for (
  const { title, timeframe, instrument, bytes, times, oldest, convention, dialect } of [...SITE_FILES, ...PROGRAM_FILES]
) {
  Deno.test(`a file of ${title} is recognised`, async () => {
    const answer = await read(bytes, { timeframe, instrument });
    expect([timesOf(answer), answer.rejected]).toEqual([times, []]);
    expect(answer.rows[0]!.slice(1)).toEqual(oldest);
    expect(answer.convention).toBe(convention);
    const plain = { packing: null, encoding: "utf-8", delimiter: ",", date_order: "ymd", time_unit: null };
    expect(answer.dialect).toMatchObject({ ...plain, decimal_mark: "point", timezone: "UTC", ...dialect });
  });

  Deno.test(`a file of ${title} that is cut short gives its whole lines, or a reason`, async () => {
    for (let length = 1; length < bytes.length; length += Math.ceil(bytes.length / 40)) {
      const outcome = await read(bytes.slice(0, length), { timeframe, instrument }).then(
        ({ rows, rejectedCount }) => rows.length + rejectedCount <= times.length,
        (error) => /^Cannot /.test(error.message),
      );
      expect([length, outcome]).toEqual([length, true]);
    }
  });
}

Deno.test("epochs of seconds, milliseconds, microseconds and nanoseconds are one moment", async () => {
  const units = { s: "", ms: "000", us: "000000", ns: "000000000" };
  for (const [unit, zeros] of Object.entries(units)) {
    const answer = await read(days(`1704153600${zeros}`, `1704240000${zeros}`));
    expect([timesOf(answer), answer.dialect.time_unit]).toEqual([["2024-01-02T00:00Z", "2024-01-03T00:00Z"], unit]);
  }
  // Times of the first months of 1970 have too few digits to tell.
  const early = await read(days("86400", "172800"), { forced: { timeUnit: "s" } });
  expect(timesOf(early)).toEqual(["1970-01-02T00:00Z", "1970-01-03T00:00Z"]);
});

Deno.test("dates that have two readings are refused with both, until one is asked for", async () => {
  const file = days("01/02/2024", "02/02/2024", "03/02/2024");
  await expect(read(file)).rejects.toMatchObject({
    parameter: "dateOrder",
    message:
      'Cannot tell the order of the dates: "01/02/2024" in line 2 is 2024-02-01 (day first) or 2024-01-02 (month first): ' +
      "send dateOrder=dmy or dateOrder=mdy",
  });
  const [dmy, mdy] = await Promise.all(
    (["dmy", "mdy"] as const).map((dateOrder) => read(file, { forced: { dateOrder } })),
  );
  expect(timesOf(dmy!)).toEqual(["2024-02-01T00:00Z", "2024-02-02T00:00Z", "2024-02-03T00:00Z"]);
  expect(timesOf(mdy!)).toEqual(["2024-01-02T00:00Z", "2024-02-02T00:00Z", "2024-03-02T00:00Z"]);
  // One line settles it.
  expect((await read([...file, "13/02/2024,1,1,1,1,1"])).dialect.date_order).toBe("dmy");
});

Deno.test("a minute file whose order shows after twelve days is read by it", async () => {
  const lines = [HEADER];
  for (let minute = 0; minute < 13 * 1440; minute++) {
    const [date, clock] = new Date(Date.UTC(2024, 0, 1) + minute * 60_000).toISOString().split("T");
    lines.push(`${date!.split("-").reverse().join("/")} ${clock!.slice(0, 5)},1,1,1,1,1`);
  }
  const answer = await read(lines, { timeframe: "1m", instrument: CRYPTO, bytesMax: 10_000_000 });
  expect([answer.rows.length, answer.rejectedCount, answer.dialect.date_order]).toEqual([13 * 1440, 0, "dmy"]);
  expect(answer.rows.at(-1)![0]).toBe("2024-01-13T23:59Z");
});

Deno.test("a file that writes dates or decimals in two ways is refused with a line of each", async () => {
  await expect(read(days("13/02/2024", "02/14/2024"))).rejects.toThrow(
    '"13/02/2024" in line 2 has the day first, "02/14/2024" in line 3 the month',
  );
  const mixed = await read(days("13/02/2024", "02/14/2024"), { forced: { dateOrder: "dmy" } });
  expect(reasonsOf(mixed)).toEqual([expect.stringMatching(/^3 "02\/14\/2024" is not a time that exists/)]);
  const decimals = ["date;open;high;low;close;volume", "2024-01-02;1,5;1,5;1,5;1,5;1", "2024-01-03;1.5;1.5;1.5;1.5;1"];
  await expect(read(decimals)).rejects.toMatchObject({
    parameter: "decimalMark",
    message: expect.stringContaining('they are written in two ways, "1.5" in line 3 and "1,5" in line 2'),
  });
  const forced = await read(decimals, { forced: { decimalMark: "comma" } });
  expect(reasonsOf(forced)).toEqual(['3 open "1.5" is not a number (write 1234,5)']);
});

Deno.test("prices that have two readings are refused with both, until one is asked for", async () => {
  const file = ["date;open;high;low;close;volume", "2024-01-02;1,234;1,250;1,200;1,240;7"];
  await expect(read(file)).rejects.toThrow(
    '"1,234" in line 2 is 1234 (decimal point) or 1.234 (decimal comma): send decimalMark=point or decimalMark=comma',
  );
  const [point, comma] = await Promise.all(
    (["point", "comma"] as const).map((decimalMark) => read(file, { forced: { decimalMark } })),
  );
  expect([point!.rows[0]![1], comma!.rows[0]![1]]).toEqual([1234, 1.234]);
  // Between commas a point cannot separate thousands.
  expect((await read(["2024-01-02,1.234,1.250,1.200,1.240,7"])).rows[0]![1]).toBe(1.234);
});

Deno.test("columns are named by place where no header or a wrong one names them", async () => {
  const file = ["x,when,c,h,l,o", "7,2024-01-02,3,4,1,2", "7,2024-01-03,3,4,1,2"];
  await expect(read(file)).rejects.toThrow("Cannot find the column open");
  const answer = await read(file, { forced: { columns: [null, "time", "close", "high", "low", "open"] } });
  expect(answer.rows[0]).toEqual(["2024-01-02T00:00Z", 2, 4, 1, 3, 0]);
  expect(answer.dialect.columns).toMatchObject({ time: "2", open: "6", volume: null });
  // High, low, open, close: the columns of these numbers are not open, high, low, close.
  await expect(read(["2024-01-02,4,1,2,3,7"])).rejects.toMatchObject({ parameter: "columns" });
  await expect(read(days("2024-01-02"), { forced: { dialect: "nasdaq" } })).rejects.toThrow("as one of nasdaq");
});

Deno.test("a file of two instruments gives the first one's candles and names the other", async () => {
  const header = "ticker,volume,open,close,high,low,window_start,transactions";
  const answer = await read([header, "A,1,1,1,1,1,1708578000000000000,1", "AA,1,1,1,1,1,1708664400000000000,1"]);
  expect([answer.rows.length, reasonsOf(answer)]).toEqual([
    1,
    ["3 is of AA and the first candle of A: import each instrument's lines apart"],
  ]);
});

Deno.test("times of a zone follow its clock through the hour that is skipped and the hour that comes twice", async () => {
  const given = { timeframe: "30m", instrument: CRYPTO, forced: { timezone: "America/New_York" } } as const;
  const spring = await read(days("2024-03-10 01:30", "2024-03-10 02:00", "2024-03-10 03:00"), given);
  expect(timesOf(spring)).toEqual(["2024-03-10T06:30Z", "2024-03-10T07:00Z"]);
  expect(reasonsOf(spring)).toEqual(['3 "2024-03-10 02:00" does not exist in America/New_York: the clock skips it']);
  const clock = ["00:30", "01:00", "01:30", "01:00", "01:30", "02:00"].map((time) => `2024-11-03 ${time}`);
  const moments = ["04:30", "05:00", "05:30", "06:00", "06:30", "07:00"].map((time) => `2024-11-03T${time}Z`);
  const autumn = await read(days(...clock), given);
  expect([timesOf(autumn), autumn.rejected]).toEqual([moments, []]);
  const newestFirst = await read(days(...clock.toReversed()), given);
  expect([timesOf(newestFirst), newestFirst.rejected]).toEqual([moments, []]);
  expect(autumn.dialect.timezone).toBe("America/New_York");
});

Deno.test("times with a zone and times without one are not mixed", async () => {
  const given = { timeframe: "1h", instrument: CRYPTO } as const;
  const bare = await read(
    days("2024-01-02 01:00", "2024-01-02 02:00", "2024-01-02 08:00+05:00", "2024-01-02 04:00Z"),
    given,
  );
  expect(timesOf(bare)).toEqual(["2024-01-02T01:00Z", "2024-01-02T02:00Z", "2024-01-02T04:00Z"]);
  expect(reasonsOf(bare)).toEqual([
    "4 names the zone +05:00, and the times before it name none and are read in UTC: name one in each line, or in none",
  ]);
  const zoned = await read(days("2024-01-02 01:00-05:00", "2024-01-02 08:00:00"), given);
  expect(reasonsOf(zoned)).toEqual([
    "3 names no time zone, and the times before it do (-05:00): name one in each line, or in none",
  ]);
  // Each written offset counts, as a clock's change needs it.
  const two = await read(days("2024-01-02 01:00-05:00", "2024-01-02 08:00+01:00"), given);
  expect(timesOf(two)).toEqual(["2024-01-02T06:00Z", "2024-01-02T07:00Z"]);
});

Deno.test("an archive must hold one file, and a damaged one is refused", async () => {
  const file = strToU8(days("2024-01-02").join("\n"));
  const zip = (files: Record<string, Uint8Array>) => new Uint8Array(zipSync(files));
  const flipped = new Uint8Array(gzipSync(file));
  flipped[flipped.length - 5]! ^= 1;
  const cases: readonly (readonly [Uint8Array<ArrayBuffer>, string])[] = [
    [zip({ "a.csv": file, "b.csv": file }), 'Cannot import an archive of several files, "a.csv" and "b.csv"'],
    [zip({ "[Content_Types].xml": file }), "Cannot import a workbook: save it as CSV"],
    [zip({}), "Cannot import a zip archive without a file"],
    [zip({ "a.csv.gz": gzipSync(file) }), "Cannot unpack an archive within an archive"],
    [zip({ "a.csv": file }).slice(0, 60), "Cannot unpack the zip archive, which is damaged or cut short"],
    [new Uint8Array(gzipSync(file)).slice(0, 30), "Cannot unpack the gzip file, which is damaged or cut short"],
    [flipped, "Cannot unpack the gzip file, which is damaged or cut short"],
  ];
  for (const [bytes, message] of cases) await expect(read(bytes)).rejects.toThrow(message);
});

Deno.test("a bomb is refused at the limit while it still arrives", async () => {
  const line = "2024-01-02,1,1,1,1,1\n";
  const block = new TextEncoder().encode(`${HEADER}\n${line.repeat(1_000_000)}`);
  for (const bomb of [new Uint8Array(gzipSync(block)), new Uint8Array(zipSync({ "bomb.csv": block }))]) {
    // It arrives in pieces, and the last of them is never asked for.
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulled >= bomb.length) return controller.close();
        controller.enqueue(bomb.slice(pulled, pulled += 1_024));
      },
    }, { highWaterMark: 0 });
    await expect(read(body, { bytesMax: 1_000_000 })).rejects.toThrow("Cannot import more than 1000000 bytes");
    expect(pulled).toBeLessThan(bomb.length);
  }
});
