/**
 * The import of files of candles into PostgreSQL, a year of minutes each, beside reading and splitting the same files in the same
 * process.
 *
 * `deno run --allow-all bench/import_bench.ts [files]`, with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import { importCsv } from "../market/csv/import.ts";
import { openTestDatabase } from "../tests/support/database.ts";
import { median, report, type Taken, timeWork } from "./measure.ts";
import { makeWalk } from "./random_walk.ts";

const ROWS = 525_600;
const MINUTE_MS = 60_000;

const files = Number(Deno.args[0] ?? 9);
const path = await Deno.makeTempFile({ suffix: ".csv" });
await Deno.writeTextFile(path, writeYear());
const handle = await openTestDatabase("PostgreSQL");
try {
  await measure();
} finally {
  await handle.close();
  await Deno.remove(path);
}

async function measure(): Promise<void> {
  const imports: Taken[] = [];
  const splits: Taken[] = [];
  for (let i = 0; i < files; i++) {
    splits.push(await timeWork(splitFile));
    imports.push(await timeWork(() => importFile(`S${i}`)));
  }
  const speed = (taken: readonly Taken[], of: "ms" | "cpuMs") => ROWS / median(taken.map((each) => each[of]));
  for (const [words, of] of [["", "ms"], [", by the processor time of this process", "cpuMs"]] as const) {
    await report({
      measure: `import of a year of minutes${words}`,
      ours: speed(imports, of),
      reference: { name: "reading and splitting the file", value: speed(splits, of) },
      goal: { of: "ratio", least: 0.4 },
      unit: "thousand lines a second",
    });
  }
}

async function splitFile(): Promise<void> {
  let fields = 0;
  let rest = "";
  for await (const text of (await Deno.open(path)).readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) fields += line.split(",").length;
  }
  if (fields < 6 * ROWS) throw new Error(`Cannot compare: the file has ${fields} fields`);
}

async function importFile(symbol: string): Promise<void> {
  const { imported } = await importCsv(handle.db, {
    symbol,
    exchange: "BENCH",
    assetClass: "crypto",
    body: (await Deno.open(path)).readable,
    bytesMax: 1e9,
  });
  if (imported !== ROWS) throw new Error(`Cannot compare: ${imported} candles were imported`);
}

function writeYear(): string {
  const { time, open, high, low, close, volume } = makeWalk(ROWS, MINUTE_MS, Date.UTC(2023, 0, 1));
  const rows = Array.from(
    time,
    (ms, i) => `${new Date(ms).toISOString()},${open[i]},${high[i]},${low[i]},${close[i]},${volume[i]}\n`,
  );
  return `time,open,high,low,close,volume\n${rows.join("")}`;
}
