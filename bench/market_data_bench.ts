/**
 * Measures a year of 1m candles as JSON, cold and cached, beside the same bytes from memory in the same process, and the parts of a cold
 * answer.
 *
 * `deno run --allow-all bench/market_data_bench.ts [rounds]`: on PGlite and PostgreSQL; `deno task bench` sets TEST_DATABASE_URL.
 */
import { createHash } from "node:crypto";
import { readChunks } from "../db/candle_chunks.ts";
import type { DatabaseHandle } from "../db/client.ts";
import { decodeColumns } from "../db/codec/columns.ts";
import { findInstrument, type Instrument } from "../db/instruments.ts";
import { lazyBatches } from "../market/archive/read.ts";
import { planRead, planTag } from "../market/archive/read_plan.ts";
import { candlesFromColumns } from "../market/archive/candle_columns.ts";
import { archiveSample } from "../market/ingestion/archive_sample.ts";
import { encodeTicks } from "../server/ticks/encode_ticks.ts";
import { createPieceCache, type PieceCache } from "../server/ticks/piece_cache.ts";
import { DATABASES, openTestDatabase } from "../tests/support/database.ts";
import { Downloader, type Timing } from "./downloader.ts";
import { median, printFigures, watchMemory } from "./measure.ts";

const MEBIBYTE = 1024 ** 2;
const PIECE_BYTES = 262_144;
const PARTS = ["database", "decode", "check", "write"] as const;
const RANGE = { timeframe: "1m", start: Date.UTC(2024, 0, 1), end: Date.UTC(2025, 0, 1) } as const;

const rounds = Number(Deno.args[0] ?? 9);
for (const kind of DATABASES) {
  const handle = await openTestDatabase(kind);
  try {
    await archiveSample(handle.db);
    const instrument = await findInstrument(handle.db, { symbol: "DEMO", exchange: "SAMPLE" });
    if (instrument === undefined) throw new Error("Cannot find the sample");
    await printFigures(`${kind}, 527,040 candles as JSON`, {
      ...await measureAnswers(handle, instrument),
      ...await measureParts(handle, instrument),
    });
  } finally {
    await handle.close();
  }
}

async function measureAnswers(handle: DatabaseHandle, instrument: Instrument): Promise<Record<string, string>> {
  const cache = createPieceCache(64 * MEBIBYTE);
  let bytes = new Uint8Array(64 * MEBIBYTE);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/memory") return new Response(piecesOf(bytes));
    if (pathname === "/body") return new Response(bytes);
    return await answer(handle, instrument, pathname === "/first" ? createPieceCache(64 * MEBIBYTE) : cache);
  });
  const client = new Downloader(`http://127.0.0.1:${server.addr.port}`);
  // The first download warms the other process up.
  await client.time("/memory");
  bytes = new Uint8Array(0);
  const memory = watchMemory();
  const fresh = await client.time("/first");
  const growth = memory.growth();
  bytes = new Uint8Array(await (await answer(handle, instrument, cache)).arrayBuffer());
  const times = {
    first: new Array<Timing>(),
    again: new Array<Timing>(),
    memory: new Array<Timing>(),
    body: new Array<Timing>(),
  };
  for (let round = 0; round < rounds; round++) {
    // Alternating, because other processes may load the machine for a while.
    times.first.push(await client.time("/first"));
    times.again.push(await client.time("/again"));
    times.memory.push(await client.time("/memory"));
    times.body.push(await client.time("/body"));
  }
  await client.close();
  await server.shutdown();
  const wall = (which: keyof typeof times) => median(times[which].map(({ seconds }) => seconds));
  const cpu = (which: keyof typeof times) => median(times[which].map(({ cpuSeconds }) => cpuSeconds));
  const size = bytes.length / MEBIBYTE;
  return {
    "MiB a second from the archive, for the first time": (size / wall("first")).toFixed(0),
    "MiB a second again, remembered": (size / wall("again")).toFixed(0),
    "MiB a second from memory, in as large pieces": (size / wall("memory")).toFixed(0),
    "MiB a second from memory, as one body": (size / wall("body")).toFixed(0),
    "share of the rate from memory, first time": (wall("memory") / wall("first")).toFixed(2),
    "share of the rate as one body, first time": (wall("body") / wall("first")).toFixed(2),
    "share of the rate from memory, again": (wall("memory") / wall("again")).toFixed(2),
    "share of the rate from memory, first answer of the process": (wall("memory") / fresh.seconds).toFixed(2),
    "ms computed by the service, first time": (cpu("first") * 1000).toFixed(0),
    "ms computed by the service, again": (cpu("again") * 1000).toFixed(0),
    "ms computed by the service, from memory": (cpu("memory") * 1000).toFixed(0),
    "ms computed by the service, as one body": (cpu("body") * 1000).toFixed(0),
    "RSS growth of the process's first answer, MiB": growth.toFixed(0),
  };
}

async function answer({ db }: DatabaseHandle, instrument: Instrument, cache: PieceCache): Promise<Response> {
  const plan = await planRead(db, { instrument, ...RANGE });
  const head = { symbol: "DEMO", timeframe: "1m", assetClass: "crypto", provider: "sample" } as const;
  const ticks = {
    head,
    tag: planTag(plan, ""),
    batches: lazyBatches(db, plan),
    nextCursor: undefined,
    format: undefined,
  };
  return encodeTicks(ticks, new Request("http://bench/"), cache);
}

function piecesOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, at + PIECE_BYTES));
      at += PIECE_BYTES;
    },
  }, { highWaterMark: 0 });
}

/** The parts of a cold answer, each as the median of the rounds. */
async function measureParts({ db }: DatabaseHandle, instrument: Instrument): Promise<Record<string, string>> {
  const parts = {
    database: new Array<number>(),
    decode: new Array<number>(),
    check: new Array<number>(),
    write: new Array<number>(),
  };
  let stored = 0;
  for (let round = 0; round < rounds; round++) {
    const { chunks } = await planRead(db, { instrument, ...RANGE });
    const taken = { database: 0, decode: 0, check: 0, write: 0 };
    let begun = performance.now();
    const lap = (part: keyof typeof taken) => {
      taken[part] += performance.now() - begun;
      begun = performance.now();
    };
    stored = 0;
    for (const { month } of chunks) {
      begun = performance.now();
      const [row] = await readChunks(db, { instrumentId: instrument.id, timeframe: "1m", months: [month] });
      if (row === undefined) throw new Error(`Cannot find the sample's ${month}`);
      lap("database");
      const candles = candlesFromColumns(decodeColumns(row.data));
      lap("decode");
      createHash("sha256").update(row.data).digest("hex");
      lap("check");
      const head = { symbol: "DEMO", timeframe: "1m", assetClass: "crypto", provider: "sample" } as const;
      const batches = [{ sha256: null, read: () => Promise.resolve(candles) }];
      const response = encodeTicks(
        { head, tag: "", batches, nextCursor: undefined, format: undefined },
        new Request("http://bench/"),
      );
      for await (const _ of response.body ?? []);
      lap("write");
      stored += row.data.length;
    }
    for (const name of PARTS) parts[name].push(taken[name]);
  }
  const ms = (part: keyof typeof parts) => median(parts[part]).toFixed(0);
  return {
    "ms to read the chunks from the database": ms("database"),
    "ms to unpack them": ms("decode"),
    "ms to check their sums": ms("check"),
    "ms to write the JSON": ms("write"),
    "bytes stored for a candle": (stored / 527_040).toFixed(1),
  };
}
