import { expect } from "@std/expect";
import { ByteWriter, textBytes } from "../../server/byte_writer.ts";

const writer = new ByteWriter(100, 50);
const decoder = new TextDecoder();

function written(write: (writer: ByteWriter) => void): string {
  write(writer);
  return decoder.decode(writer.take());
}

Deno.test("numbers are written as JSON.stringify writes them", () => {
  const values = [0, 1, 10, 0.1, 0.3, 1e-6, 1.5e-7, 1e-8, 99999999.99999999, 123456789012345, 1e15, 1e21, 1e9, 5e-324];
  let seed = 7;
  const random = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  for (let i = 0; i < 20_000; i++) {
    values.push(
      Math.round(random() * 1e7) / 100,
      Math.round(random() * 1e12) / 1e8,
      Math.round(random() * 1e15),
      random() * 10 ** Math.floor(random() * 40 - 20),
      -random(),
    );
  }
  for (const value of values) {
    const text = written((to) => to.writeNumber(value));
    if (text !== JSON.stringify(value)) throw new Error(`Cannot write ${value} as ${text}`);
  }
});

Deno.test("moments are written as ISO 8601 in UTC", () => {
  for (const iso of ["2024-02-29T23:59:00.000Z", "2024-02-29T00:00:00.000Z", "1969-12-31T09:05:00.000Z"]) {
    expect(written((to) => to.writeMinute(Date.parse(iso)))).toBe(iso);
  }
});

Deno.test("a page is full at its size, and empty again when taken", () => {
  const text = textBytes("ten bytes.");
  for (let i = 0; i < 9; i++) writer.write(text);
  expect(writer.isFull).toBe(false);
  writer.write(text);
  expect(writer.isFull).toBe(true);
  expect(decoder.decode(writer.take())).toBe("ten bytes.".repeat(10));
  expect(writer.isFull).toBe(false);
});
