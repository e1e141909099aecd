import { expect } from "@std/expect";
import { TickWriter } from "../../../server/ticks/tick_writer.ts";

const decoder = new TextDecoder();
const FORMAT = { start: "<", open: "|", high: "|", low: "|", close: "|", volume: "|", end: ">" };

/** Rows of one time and the same number five times. */
function rows(numbers: readonly number[], time = Date.UTC(2024, 1, 29, 23, 59)) {
  const column = Float64Array.from(numbers);
  return { time: column.map(() => time), open: column, high: column, low: column, close: column, volume: column };
}

function write(numbers: readonly number[], time?: number): string {
  const writer = new TickWriter(FORMAT, 10_000_000);
  expect(writer.writeRows(rows(numbers, time), 0)).toBe(numbers.length);
  return decoder.decode(writer.take());
}

Deno.test("numbers are written as JSON.stringify writes them, whatever came before", () => {
  const values = [
    0,
    1,
    10,
    0.1,
    0.3,
    1e-6,
    1.5e-7,
    1e-8,
    99999999.99999999,
    123456789012345,
    1e15,
    1e21,
    1e9,
    5e-324,
    100,
    // On both sides of powers of ten, with and without decimals.
    9_999,
    10_000,
    10_000.0001,
    99_999_999,
    100_000_000,
    999_999_999,
    999_999_999.5,
    1_000_000_000,
    2_147_483_647,
    2_147_483_648,
    214_748_364.7,
    214_748_364.8,
    4_294_967_296,
    0.00000123,
    100_000_001.5,
    10_000_000.05,
    1.2345678,
    100.0000001,
    0.0000001,
    12_000.0305,
    -0,
    -1.5,
  ];
  let seed = 7;
  const random = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  for (let i = 0; i < 10_000; i++) {
    values.push(
      Math.round(random() * 1e7) / 100,
      Math.round(random() * 1e4) / 10,
      Math.round(random() * 1e12) / 1e8,
      Math.round(random() * 2e9) / 1e5,
      Math.round(random() * 1e10) / 10,
      Math.floor(random() * 10) * 10 ** Math.floor(random() * 12) + Math.round(random() * 9) / 1000,
      Math.round(random() * 1e15),
      random() * 10 ** Math.floor(random() * 40 - 20),
      -random(),
    );
  }
  const written = write(values).slice(1, -1).split("><").map((row) => row.split("|"));
  expect(written.length).toBe(values.length);
  written.forEach(([, ...numbers], i) => {
    const text = JSON.stringify(values[i]);
    if (numbers.some((number) => number !== text)) throw new Error(`Cannot write ${text} as ${numbers}`);
  });
});

Deno.test("moments are written as ISO 8601 in UTC", () => {
  for (const iso of ["2024-02-29T23:59:00.000Z", "2024-02-29T00:00:00.000Z", "1969-12-31T09:05:00.000Z"]) {
    expect(write([1], Date.parse(iso))).toBe(`<${iso}|1|1|1|1|1>`);
  }
});

Deno.test("a page is full at its size, and empty again when taken", () => {
  const writer = new TickWriter(FORMAT, 100);
  // A row of one digit each is 36 bytes: three are more than a hundred.
  expect(writer.writeRows(rows([1, 2, 3, 4]), 0)).toBe(3);
  const page = writer.take();
  expect(page.length).toBe(108);
  expect(writer.writeRows(rows([1, 2, 3, 4]), 3)).toBe(4);
  const rest = writer.take();
  expect(decoder.decode(rest)).toBe("<2024-02-29T23:59:00.000Z|4|4|4|4|4>");
  // Bytes that were taken stay as they are and hold no more memory than they need.
  expect(rest.buffer.byteLength).toBe(36);
  expect(decoder.decode(page)).toContain("|3|3|3|3|3>");
});

Deno.test("few rows take a small page, and another where they are long", () => {
  const writer = new TickWriter(FORMAT, 1_000_000);
  const long = rows(Array(10).fill(1.2345678901234567e-100));
  // Five numbers of 23 characters make a row of 146: nine are more than 1,280 bytes, ten times what a row usually is at most.
  expect(writer.writeRows(long, 0)).toBe(9);
  const page = writer.take();
  // Behind the limit there is room for one more row: 7 bytes around the numbers, 27 of the time, five numbers of 24, and 32 behind a label.
  expect([page.length, page.buffer.byteLength]).toEqual([9 * 146, 1280 + 186]);
  expect(writer.writeRows(long, 9)).toBe(10);
  expect(writer.take().length).toBe(146);
});
