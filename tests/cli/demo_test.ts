import { expect } from "@std/expect";
import { drawPicture } from "../docs/picture.ts";
import { readPage } from "../support/pages.ts";
import { runTask } from "../support/process.ts";

Deno.test("the demonstration goes from sign-up to the last trades as in the README's picture, and leaves nothing behind", async () => {
  const temporary = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const ended = await runTask("demo", ["--color"], { TMPDIR: temporary });
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  for (
    const part of ["sma-cross", "527,040 candles", "100%", "completed", "Sharpe ratio", "2024-12-", "The last 8 of"]
  ) {
    expect(ended.stdout).toContain(part);
  }
  // `deno task picture` draws it anew. The time is another each time.
  const timeless = (picture: string) => picture.replace(/textLength="[\d.]+">([\d,]+ candles) in [\d.]+ s/, "$1");
  expect(timeless(drawPicture(ended.stdout))).toBe(timeless(await readPage("docs/demo.svg")));
  expect([...Deno.readDirSync(temporary)]).toEqual([]);
  await Deno.remove(temporary);
});

Deno.test("the demonstration takes the user's own candles up to today, of a symbol within another's, without regard to WORKERS", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const hour = 3_600_000;
  const now = Math.floor(Date.now() / hour) * hour;
  const rows = Array.from({ length: 100 }, (_, i) => {
    const open = i === 50 ? "abc" : "9";
    return `${new Date(now - (100 - i) * hour).toISOString()},${open},11,8,10,1`;
  });
  await Deno.writeTextFile(`${folder}/mo.csv`, `timestamp,open,high,low,close,volume\n${rows.join("\n")}\n`);
  const ended = await runTask("demo", ["--data", `${folder}/mo.csv`], { WORKERS: "0" });
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  expect(ended.stdout).toContain("Imported 99 candles of 1h");
  expect(ended.stdout).toContain("line 52: ");
  const dates = [now - 100 * hour, now].map((time) => new Date(time).toISOString().slice(0, 10));
  expect(ended.stdout).toContain(`SMA Cross on MO, ${dates.join(" to ")}`);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("the demonstration refuses a file that is missing or without candles, and an unknown option", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const missing = await runTask("demo", ["--data", `${folder}/none.csv`]);
  expect([missing.code, missing.stderr.includes("none.csv")]).toEqual([1, true]);
  const unknown = await runTask("demo", ["--dta", "x"]);
  expect([unknown.code, unknown.stderr.includes("--dta")]).toEqual([1, true]);
  const help = await runTask("demo", ["--help"]);
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("--data FILE.csv")]);
  await Deno.writeTextFile(`${folder}/empty.csv`, "timestamp,open,high,low,close,volume\n2024-01-01,x,x,x,x,x\n");
  const empty = await runTask("demo", ["--data", `${folder}/empty.csv`, "--timeframe", "1d"]);
  expect([empty.code, empty.stderr]).toEqual([
    1,
    `Cannot run a backtest: ${folder}/empty.csv held no usable candle\n`,
  ]);
  await Deno.remove(folder, { recursive: true });
});
