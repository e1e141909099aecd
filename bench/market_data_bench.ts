/**
 * Candles in and out: a CSV import, and a year of 1m candles as JSON beside the same bytes from memory, served by the same process.
 *
 * `deno run --allow-all bench/market_data_bench.ts [lines]`: on PGlite and PostgreSQL, with TEST_DATABASE_URL as
 * `deno task bench` sets it.
 */
import type { DatabaseHandle } from "../db/client.ts";
import { findInstrument } from "../db/instruments.ts";
import { lazyBatches } from "../market/archive.ts";
import { planRead, planTag } from "../market/archive_plan.ts";
import { importCsv } from "../market/csv_import.ts";
import { CsvReader } from "../market/csv_reader.ts";
import { archiveSample } from "../market/sample.ts";
import { encodeTicks } from "../server/encode_ticks.ts";
import { DATABASES, openTestDatabase } from "../tests/support/database.ts";

const MEBIBYTE = 1024 ** 2;
const ROUNDS = 5;
const PIECE_BYTES = 65_536;

const lines = Number(Deno.args[0] ?? 2_000_000);
for (const kind of DATABASES) {
  const handle = await openTestDatabase(kind);
  try {
    await print(`${kind}, ${lines} lines in, 527,040 candles out`, {
      ...await measureImport(handle),
      ...await measureAnswers(handle),
    });
  } finally {
    await handle.close();
  }
}

// ---- In ----

/** A file of minutes, made while it is read. */
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
  const making = await seconds(async () => {
    for await (const _ of makeFile());
  });
  const reading = await seconds(async () => {
    const reader = new CsvReader("1m", Date.now());
    for await (const piece of makeFile()) for (const _ of reader.push(piece));
  });
  const memory = watchMemory();
  const target = { symbol: "BENCH", exchange: "BENCH", assetClass: "crypto", timeframe: "1m" } as const;
  const importing = await seconds(async () => {
    const { imported } = await importCsv(db, { ...target, body: makeFile(), bytesMax: Infinity });
    if (imported !== lines) throw new Error(`Cannot see ${lines} lines imported but ${imported}`);
  });
  return {
    // The time that making the file takes is not the import's.
    "lines imported a second": rate(lines, importing - making),
    "lines parsed and checked a second, without storing": rate(lines, reading - making),
    "RSS growth of the import, MiB": memory.growth().toFixed(0),
  };
}

// ---- Out ----

async function measureAnswers({ db }: DatabaseHandle): Promise<Record<string, string>> {
  await archiveSample(db);
  const instrument = await findInstrument(db, { symbol: "DEMO", exchange: "SAMPLE" });
  if (instrument === undefined) throw new Error("Cannot find the sample");
  const range = { start: Date.UTC(2024, 0, 1), end: Date.UTC(2025, 0, 1) };
  const answer = async (request: Request) => {
    const plan = await planRead(db, { instrument, timeframe: "1m", ...range });
    const head = { symbol: "DEMO", timeframe: "1m", assetClass: "crypto", provider: "sample" } as const;
    const batches = lazyBatches(db, plan);
    return encodeTicks({ head, tag: planTag(plan, ""), batches, nextCursor: undefined, format: undefined }, request);
  };
  // Filled after the first answers, so that those find nothing remembered.
  let bytes = new Uint8Array(0);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    return request.url.endsWith("/memory") ? new Response(piecesOf(bytes)) : await answer(request);
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  const memory = watchMemory();
  const archived = await download(`${url}/archive`);
  const growth = memory.growth();
  bytes = new Uint8Array(await (await answer(new Request(url))).arrayBuffer());
  const remembered = await download(`${url}/memory`);
  await server.shutdown();
  const size = bytes.length / MEBIBYTE;
  return {
    "JSON from the archive for the first time, MiB a second": rate(size, archived.first),
    "JSON of chunks that were asked for lately, MiB a second": rate(size, archived.best),
    "the same bytes from memory, MiB a second": rate(size, remembered.best),
    "share of the rate from memory, first time": (remembered.best / archived.first).toFixed(2),
    "share of the rate from memory": (remembered.best / archived.best).toFixed(2),
    "RSS growth of the answers, MiB": growth.toFixed(0),
  };
}

function piecesOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + PIECE_BYTES));
      at += PIECE_BYTES;
    },
  }, { highWaterMark: 0 });
}

/** Several downloads by another process, in seconds: the first and the best. */
async function download(url: string): Promise<{ first: number; best: number }> {
  const script = `for (let i = 0; i < ${ROUNDS}; i++) {
    const begun = performance.now();
    for await (const _ of (await fetch("${url}", { headers: { "accept-encoding": "identity" } })).body);
    await Deno.stdout.write(new TextEncoder().encode((performance.now() - begun) + " "));
  }`;
  const child = new Deno.Command(Deno.execPath(), { args: ["eval", script], stdout: "piped" });
  const times = new TextDecoder().decode((await child.output()).stdout).trim().split(" ").map(Number);
  return { first: times[0]! / 1000, best: Math.min(...times) / 1000 };
}

// ---- Measuring ----

/** How much more memory the process holds at its most than at the beginning, in MiB. */
function watchMemory(): { growth(): number } {
  const begun = Deno.memoryUsage().rss;
  let most = begun;
  const look = () => void (most = Math.max(most, Deno.memoryUsage().rss));
  const timer = setInterval(look, 20);
  const growth = () => {
    clearInterval(timer);
    look();
    return (most - begun) / MEBIBYTE;
  };
  return { growth };
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

function rate(amount: number, inSeconds: number): string {
  return (amount / inSeconds).toFixed(0);
}

async function print(title: string, rows: Readonly<Record<string, string>>): Promise<void> {
  const text = Object.entries(rows).map(([name, value]) => `  ${value.padStart(10)}  ${name}\n`).join("");
  await Deno.stdout.write(new TextEncoder().encode(`${title}\n${text}`));
}
