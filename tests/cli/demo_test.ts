import { expect } from "@std/expect";
import { listen } from "../../main.ts";
import { readConfig } from "../../server/config.ts";
import { TestClient } from "../support/client.ts";
import { drawPicture } from "../docs/picture.ts";
import { readPage } from "../support/pages.ts";
import { type Ended, runTask, runTaskCommand } from "../support/process.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

const HOUR_MS = 3_600_000;

/** Runs the demonstration of a file's candles on a service that runs already, which takes a tenth of a first start. */
async function demonstrate(name: string, lines: readonly string[], ...flags: readonly string[]): Promise<Ended> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.writeTextFile(`${folder}/${name}`, `${lines.join("\n")}\n`);
  const ended = await runDemonstration(`${folder}/${name}`, ...flags);
  await Deno.remove(folder, { recursive: true });
  return ended;
}

async function runDemonstration(...flags: readonly string[]): Promise<Ended> {
  const service = await startTestService();
  const program = new URL("./demonstration.ts", import.meta.url).pathname;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--allow-all", program, service.url, INGESTION_SECRET, ...flags],
    env: { NO_COLOR: "1" },
  }).output();
  await service.close();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

Deno.test("the demonstration goes from sign-up to the last trades as in the README's picture, and leaves nothing behind", async () => {
  const temporary = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  // It has a worker, whatever the environment says.
  const ended = await runTask("demo", ["--color"], { TMPDIR: temporary, WORKERS: "0" });
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  for (
    const part of [
      "sma-cross",
      "527,040 candles",
      "100%",
      "completed",
      "Sharpe",
      "Net return",
      "2024-12-",
      "The last 8 of",
    ]
  ) {
    expect(ended.stdout).toContain(part);
  }
  // `deno task picture` draws it anew. The time is another each time.
  const timeless = (picture: string) => picture.replace(/textLength="[\d.]+">([\d,]+ candles) in [\d.]+ s/, "$1");
  expect(timeless(drawPicture(ended.stdout))).toBe(timeless(await readPage("docs/demo.svg")));
  expect([...Deno.readDirSync(temporary)]).toEqual([]);
  await Deno.remove(temporary);
});

Deno.test("the demonstration runs the strategy and the parameters that it is asked for, and refuses others by name", async () => {
  const ended = await runTask("demo", ["--strategy", "donchian-breakout", "-p", "timeframe=1d", "-p", "entry=30"]);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  for (const part of ["Donchian Breakout on DEMO", "366 candles"]) expect(ended.stdout).toContain(part);
  const refusals = [
    [
      ["--strategy", "donchian-breakot"],
      /Cannot find the strategy "donchian-breakot": did you mean donchian-breakout\?/,
    ],
    [["-p", "fast"], /Cannot use -p fast: write a name and a value/],
    [["--optimize", "-p", "fast=3"], /Cannot use --optimize with -p/],
    [["--portfolio", "--strategy", "dca"], /Cannot use --portfolio with --strategy/],
  ] as const;
  for (const [args, words] of refusals) {
    const refused = await runTask("demo", args);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(words)]);
  }
});

Deno.test("a kept demonstration is served again, and its password and its run's address are right", async () => {
  const folder = `${await Deno.makeTempDir({ prefix: "hindcast-test-" })}/a kept one`;
  const csv = `${folder}.csv`;
  const days = Array.from({ length: 200 }, (_, i) => new Date(Date.UTC(2023, 0, 2 + i)).toISOString().slice(0, 10));
  await Deno.writeTextFile(csv, ["date,open,high,low,close", ...days.map((day) => `${day},9,11,8,10`)].join("\n"));
  const ended = await runTask("demo", ["--data", csv, "--keep", folder]);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  expect(ended.stdout).toContain(`DATA_DIR='${folder}' npx -y deno@${Deno.version.deno} task start`);
  const [, path, password] =
    /:8000(\/runs\/\S+)\nSign in as demo@example.com with the password (\S+)\.\n/.exec(ended.stdout) ?? [];
  const service = await listen(readConfig({ DATA_DIR: folder, PORT: "0", WORKERS: "0", LOG_LEVEL: "error" }));
  const client = new TestClient(service.url);
  const answer = await client.send("POST", "/api/auth/sign-in/email", { email: "demo@example.com", password });
  client.cookie = answer.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
  const kept = await client.get(`/api/backtests/${path?.slice("/runs/".length)}`);
  expect([kept.status, kept.at("/backtest/status"), kept.at("/backtest/symbol")])
    .toEqual([200, "completed", "A KEPT ONE"]);
  await service.close();

  // Files that are there already stay as they are.
  const again = await runTask("demo", ["--keep", folder]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/Cannot keep .* name a new folder/)]);
  await Deno.remove(`${folder}/..`, { recursive: true });
});

Deno.test("the demonstration takes the user's own candles, and says which lines it could not use", async () => {
  const rows = Array.from({ length: 120 }, (_, i) => {
    const price = 100 + 20 * Math.sin(i / 9);
    const day = new Date(Date.UTC(2023, 0, 2 + i)).toISOString().slice(0, 10);
    return `${day},${i === 50 ? "abc" : price},${price + 1},${price - 1},${price},10`;
  });
  const ended = await demonstrate("waves.csv", ["Date,Open,High,Low,Close,Volume", ...rows], "optimize");
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  // The pairs of a fast mean below the slow one.
  expect(ended.stdout).toContain("122 trials");
  expect(ended.stdout).toMatch(/\n 48 (?:[░▒▓█]{3}){11}\s*\n/);
  expect(ended.stdout).toMatch(/The best is \S+, with fast \d+ and slow \d+\.\nHow much of it is luck: \w+/);
  expect(ended.stdout).toContain("Imported 119 candles of 1d");
  expect(ended.stdout).toContain("line 52: ");
  expect(ended.stdout).toContain("SMA Cross on WAVES, 2023-01-02 to 2023-05-02");
});

Deno.test("the demonstration takes candles up to today, of a symbol within another's", async () => {
  const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const rows = Array.from(
    { length: 100 },
    (_, i) => `${new Date(now - (100 - i) * HOUR_MS).toISOString()},9,11,8,10,1`,
  );
  // The sample's DEMO holds these two letters.
  const ended = await demonstrate("mo.csv", ["timestamp,open,high,low,close,volume", ...rows]);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  expect(ended.stdout).toContain("Imported 100 candles of 1h");
  const dates = [now - 100 * HOUR_MS, now].map((time) => new Date(time).toISOString().slice(0, 10));
  expect(ended.stdout).toContain(`SMA Cross on MO, ${dates.join(" to ")}`);
});

Deno.test("the portfolio demonstration rotates over a universe, and draws weights and contributions", async () => {
  const ended = await runDemonstration("portfolio");
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  expect(ended.stdout).toContain("The universe sample-stocks@1 has 12 members:");
  expect(ended.stdout).toMatch(
    /ELM leaves .* 2023-03-11\n {2}PINE leaves .* 2024-05-18\n {2}ROWAN joins on 2023-06-15\n/,
  );
  const after = (title: string) => ended.stdout.slice(ended.stdout.indexOf(`\n${title}\n`)).split("\n").slice(2);
  const weights = after("Weights").slice(0, 12);
  expect(weights.map((line) => line.slice(0, 5).trim())).toEqual([
    ...["ALDER", "ASPEN", "BEECH", "BIRCH", "CEDAR", "ELM", "HAZEL", "LARCH", "MAPLE", "OAK", "PINE", "ROWAN"],
  ]);
  // Nobody is held on the first days, which end the warm-up; then three are at a time, and none before it is listed.
  const columns = Array.from({ length: 114 }, (_, i) => weights.filter((line) => (line[6 + i] ?? " ") !== " ").length);
  expect([Math.max(...columns) <= 6, columns.filter((held) => held >= 3).length > 50]).toEqual([true, true]);
  expect(weights[11]!.slice(6, 6 + 43).trim()).toBe("");
  // The bars add up to the account's profit.
  const rows = after("Contributions to the profit").slice(0, 12);
  const gains = rows.map((line) => Number(line.slice(6, 19).replaceAll(",", "")));
  expect(gains).toEqual(gains.toSorted((a, b) => b - a));
  const final = Number(/Final equity +│ +([\d,.]+)/.exec(ended.stdout)?.[1]?.replaceAll(",", ""));
  expect(gains.reduce((sum, gain) => sum + gain, 10_000)).toBeCloseTo(final, 0);
  expect(ended.stdout).toMatch(/# │ Market +│ Side/);
  const both = await runTaskCommand("demo", ["--portfolio", "--optimize"]);
  expect([both.code, both.stderr]).toEqual([1, expect.stringContaining("Cannot use --portfolio with --optimize")]);
});

Deno.test("the demonstration refuses a file that is missing or without candles, and an unknown option", async () => {
  const missing = await runTaskCommand("demo", ["--data", "/no/such/none.csv"]);
  expect([missing.code, missing.stderr.includes("none.csv")]).toEqual([1, true]);
  const unknown = await runTaskCommand("demo", ["--dta", "x"]);
  expect([unknown.code, unknown.stderr.includes("--dta")]).toEqual([1, true]);
  const help = await runTask("demo", ["--help"]);
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("--data FILE")]);
  const lines = [0, 1].map((day) => `2024-01-0${1 + day},x,x,x,x,x`);
  const empty = await demonstrate("empty.csv", ["timestamp,open,high,low,close,volume", ...lines]);
  expect([empty.code, empty.stderr]).toEqual([
    1,
    expect.stringMatching(/Cannot run a backtest: \S+\/empty\.csv held no usable candle\n/),
  ]);
});
