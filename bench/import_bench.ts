/**
 * Measures the import of a CSV file of one-minute candles, beside the same lines only parsed and checked.
 *
 * `deno run --allow-all bench/import_bench.ts [lines]`: on PGlite and PostgreSQL; `deno task bench` sets TEST_DATABASE_URL. Ten
 * million lines are nineteen years of minutes, and some 560 MiB.
 */
import { type DatabaseHandle, openPglite } from "../db/client.ts";
import { importCsv } from "../market/csv/import.ts";
import { FileText } from "../market/csv/file_text.ts";
import { CsvReader } from "../market/csv/reader.ts";
import { DATABASES, openTestDatabase } from "../tests/support/database.ts";
import { printFigures, timeWork, watchMemory } from "./measure.ts";

const PIECE_BYTES = 65_536;

const lines = Number(Deno.args[0] ?? 10_000_000);
for (const kind of DATABASES) {
  // On disk, like the service: in memory, stored candles would count as memory of the import.
  const folder = await Deno.makeTempDir({ prefix: "hindcast-import-" });
  const handle = kind === "PGlite" ? await openPglite(folder) : await openTestDatabase(kind);
  try {
    await printFigures(`${kind}, ${lines} lines`, await measureImport(handle));
  } finally {
    await handle.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** A file of minutes, generated during the read. */
async function* makeFile(): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let text = "timestamp,open,high,low,close,volume\n";
  for (let i = 0; i < lines; i++) {
    const time = new Date(Date.UTC(2000, 0, 1) + i * 60_000).toISOString().slice(0, 19).replace("T", " ");
    const price = 40_000 + (i * 7_919) % 100_000 / 100;
    text += `${time},${price},${price + 2.5},${price - 1.25},${price + 0.75},${(i % 997) / 8}\n`;
    if (text.length < PIECE_BYTES) continue;
    yield encoder.encode(text);
    text = "";
    await Promise.resolve();
  }
  yield encoder.encode(text);
}

async function measureImport({ db }: DatabaseHandle): Promise<Record<string, string>> {
  let bytes = 0;
  const making = await timeWork(async () => {
    for await (const piece of makeFile()) bytes += piece.length;
  });
  const reading = await timeWork(async () => {
    const reader = new CsvReader("1m", Date.now());
    for await (const piece of new FileText(makeFile(), Infinity).pieces()) for (const _ of reader.push(piece));
  });
  const memory = watchMemory();
  const target = { symbol: "BENCH", exchange: "BENCH", assetClass: "crypto", timeframe: "1m" } as const;
  const importing = await timeWork(async () => {
    const { imported } = await importCsv(db, { ...target, body: makeFile(), bytesMax: Infinity });
    if (imported !== lines) throw new Error(`Cannot see ${lines} lines imported but ${imported}`);
  });
  // The import does not pay for the generation of the file. Only computing time can be subtracted: the clock counts other processes.
  const rate = ({ cpuSeconds }: typeof making) => (lines / (cpuSeconds - making.cpuSeconds)).toFixed(0);
  return {
    "MiB in the file": (bytes / 1024 ** 2).toFixed(0),
    "lines generated and imported a second": (lines / importing.seconds).toFixed(0),
    "lines imported a second of computing": rate(importing),
    "lines parsed and checked a second of computing, without storing": rate(reading),
    "RSS growth of the import, MiB": memory.growth().toFixed(0),
  };
}
