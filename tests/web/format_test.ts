/** Numbers of the console: one way to write each kind. */
import { expect } from "@std/expect";
import { formatAxisPercent, formatProgress, writeTimes } from "../../web/src/parts/format.ts";

const SOURCES = new URL("../../web/src/", import.meta.url);
const HOME = "parts/format.ts";
/** Places in drawings and styles, and what the browser names. */
const NO_TEXT = /color-mix|width|x=|x: |Intl\.(ListFormat|DateTimeFormat)|style=|\bx\(|\bM\$/;

Deno.test("numbers are written by one file alone", async () => {
  const found: string[] = [];
  for await (const path of listSources(SOURCES)) {
    if (path.endsWith(HOME)) continue;
    const lines = (await Deno.readTextFile(new URL(path, SOURCES))).split("\n");
    for (const [i, line] of lines.entries()) {
      if (NO_TEXT.test(line) || /^ *(import |\/\/|\/?\*)/.test(line)) continue;
      const isOwn = /toFixed|toLocale|NumberFormat|\}%|\d %[ .,;:"<`]/.test(line);
      if (isOwn) found.push(`${path}:${i + 1}: ${line.trim()}`);
    }
  }
  expect(found).toEqual([]);
});

Deno.test("axes and progress have the same signs as figures", () => {
  expect([formatAxisPercent(-50), formatAxisPercent(0), formatAxisPercent(1_234.56)]).toEqual([
    ...["−50.0%", "0.0%", "1,234.6%"],
  ]);
  expect([formatProgress(0), formatProgress(0.999), formatProgress(1)]).toEqual(["0%", "99%", "100%"]);
});

Deno.test("instants in the service's texts are written as the console's times", () => {
  const note = "end_date 2025-01-01 is exclusive: the last candle opens at 2024-12-31T23:00:00.000Z";
  expect(writeTimes(note)).toBe("end_date 2025-01-01 is exclusive: the last candle opens at 2024-12-31 23:00 UTC");
  expect(writeTimes("from 2024-03-01T09:30:15Z, id 2024-03-01T09:30")).toBe(
    "from 2024-03-01 09:30:15 UTC, id 2024-03-01T09:30",
  );
});

async function* listSources(folder: URL, under = ""): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(under, folder))) {
    if (isDirectory) yield* listSources(folder, `${under}${name}/`);
    else if (/\.tsx?$/.test(name)) yield `${under}${name}`;
  }
}
