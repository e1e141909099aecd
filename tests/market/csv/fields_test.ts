import { expect } from "@std/expect";
import { parseDecimal, parseTime } from "../../../market/csv/fields.ts";
import { parseWritten } from "../../../market/csv/numbers.ts";

const encoder = new TextEncoder();

// The field stands between others, as in a file, so that reading beyond its ends would show.
function field<T>(read: (bytes: Uint8Array, from: number, until: number) => T, text: string): T {
  const bytes = encoder.encode(`9,${text},-9-9-9-9`);
  return read(bytes, 2, 2 + encoder.encode(text).length);
}
const decimal = (text: string) => field(parseDecimal, text);
const time = (text: string) => {
  const ms = field(parseTime, text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
};

Deno.test("decimals are read to the nearest double, as JavaScript itself reads them", () => {
  for (
    const text of [
      "0",
      "7",
      "0.1",
      "104.06",
      "0.00000001",
      "1000000000",
      "9007199254740992",
      "9007199254740993",
      "123456789.123456789012345678901234567890",
      // A digit more than a double has: 2^53 + 1 is read as 2^53 where it is not noticed.
      "90.07199254740993",
      "90071992.54740993",
      "1e-8",
      "1E+9",
      "-2.5",
      "+2.5",
      ".5",
      "5.",
      "0.30000000000000004",
      "179769313486231570000000000000000000000",
    ]
  ) expect([text, decimal(text)]).toEqual([text, Number(text)]);
  let seed = 1;
  for (let i = 0; i < 2_000; i++) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    const text = (seed / 997).toFixed(seed % 12);
    expect(decimal(text)).toBe(Number(text));
  }
});

Deno.test("other texts are no decimals", () => {
  for (
    const text of ["", "NaN", "nan", "Infinity", "0x10", "1,5", "1 5", "--1", "1e", "e5", ".", "1_000", "12a", "٣"]
  ) {
    expect([text, decimal(text)]).toEqual([text, NaN]);
  }
  expect(Object.is(decimal("-0"), 0)).toBe(true);
  expect(decimal("1e999")).toBe(Infinity);
});

Deno.test("times are read in every documented format, as UTC without an offset", () => {
  const noon = "2024-02-29T12:34:56.000Z";
  const cases = {
    "2024-02-29": "2024-02-29T00:00:00.000Z",
    "2024-02-29 12:34:56": noon,
    "2024-02-29T12:34:56": noon,
    "2024-02-29T12:34:56Z": noon,
    "2024-02-29T12:34:56.000Z": noon,
    "2024-02-29t12:34:56.0z": noon,
    "2024-02-29 12:34:56 UTC": noon,
    "2024-02-29 14:34:56+02:00": noon,
    "2024-02-29T07:04:56-0530": noon,
    "2024-02-29 13:34:56+01": noon,
    "2024-02-29T23:30-05:00": "2024-03-01T04:30:00.000Z",
    "2024-02-29 12:34": "2024-02-29T12:34:00.000Z",
    "2024-02-29T12:34:56.789": "2024-02-29T12:34:56.789Z",
    "2024-02-29T12:34:56.789Z": "2024-02-29T12:34:56.789Z",
    "1709210096": noon,
    "1709210096000": noon,
    "1709210096000000": noon,
    "1969-12-31": "1969-12-31T00:00:00.000Z",
    "1900-03-01": "1900-03-01T00:00:00.000Z",
    "2000-02-29": "2000-02-29T00:00:00.000Z",
    "100000000000": "1973-03-03T09:46:40.000Z",
  };
  expect(Object.fromEntries(Object.keys(cases).map((text) => [text, time(text)]))).toEqual(cases);
});

Deno.test("every day from 1900 to 2100 is the day that JavaScript counts", () => {
  for (let ms = Date.UTC(1900, 0, 1); ms < Date.UTC(2100, 0, 1); ms += 86_400_000) {
    const text = new Date(ms).toISOString().slice(0, 10);
    if (field(parseTime, text) !== ms) throw new Error(`Cannot read ${text}`);
  }
});

Deno.test("a time that does not exist is refused", () => {
  for (
    const text of [
      "",
      "2023-02-29",
      "1900-02-29",
      "2024-04-31",
      "2024-00-10",
      "2024-13-01",
      "2024-01-00",
      "2024-01-32",
      "24-01-01",
      "2024-1-1",
      "2024-01-01T00:00:00.0x0Z",
      "2024-01-01T24:00:00.000Z",
      "2024/01/01",
      "01-02-2024",
      "20240101",
      "2024-01-01 24:00:00",
      "2024-01-01 12:60:00",
      "2024-01-01 12:00:60",
      "2024-01-01 1:00:00",
      "2024-01-01T",
      "2024-01-01T12:00:00+19:00",
      "2024-01-01T12:00:00 CET",
      "2024-01-01 12:00:00x",
      "2024-01-0x",
      "12",
      "-1709210096",
      "1709210096.5",
      "yesterday",
    ]
  ) expect([text, time(text)]).toEqual([text, null]);
});

Deno.test("a long field that is no number is refused in a time that grows with its length alone", () => {
  // With the square of the length it would be hours.
  expect(decimal(`${"1".repeat(1_000_000)}x`)).toBe(NaN);
  expect(parseWritten(`+${" ".repeat(1_000_000)}x`, "point")).toBe(NaN);
  expect(parseWritten("+ $ 1,234.50", "point")).toBe(1234.5);
});
