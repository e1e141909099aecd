import { expect } from "@std/expect";
import { tableFromIPC } from "apache-arrow";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import type { TicksAnswer } from "../../../routers/market_data/market_data.ts";
import { encodeTicks } from "../../../server/ticks/encode_ticks.ts";

const request = (headers: Record<string, string> = {}) => new Request("http://localhost/ticks", { headers });

type Rows = ReturnType<typeof rowsOf>;

/** A batch that is there already. */
const given = (rows: Rows, sha256: string | null = null) => ({ sha256, read: () => Promise.resolve(rows) });
const batch = (from: number, count: number) => given(rowsOf(from, count));

/** Candles a minute apart, whose numbers are their index and some. */
function rowsOf(from: number, count: number) {
  const column = (add: number) => Float64Array.from({ length: count }, (_, i) => from + i + add);
  const time = Float64Array.from({ length: count }, (_, i) => Date.UTC(2024, 0, 1) + (from + i) * 60_000);
  return { time, open: column(1), high: column(2.5), low: column(0.25), close: column(1.125), volume: column(0) };
}

function answer(batches: TicksAnswer["batches"], nextCursor?: string | null): TicksAnswer {
  const head = { symbol: 'A"B/ü', timeframe: "1m", assetClass: "crypto", provider: "import" } as const;
  return { head, tag: "abc", batches, nextCursor, format: undefined };
}

Deno.test("candles are written as the JSON that the contract shows", async () => {
  const response = encodeTicks(answer([batch(0, 1), batch(1, 1)]), request());
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toEqual({
    symbol: 'A"B/ü',
    timeframe: "1m",
    assetClass: "crypto",
    provider: "import",
    ticks: [
      { timestamp: "2024-01-01T00:00:00.000Z", open: 1, high: 2.5, low: 0.25, close: 1.125, volume: 0 },
      { timestamp: "2024-01-01T00:01:00.000Z", open: 2, high: 3.5, low: 1.25, close: 2.125, volume: 1 },
    ],
  });
});

Deno.test("an empty answer and pages are whole JSON too", async () => {
  expect((await encodeTicks(answer([]), request()).json()).ticks).toEqual([]);
  const page = await encodeTicks(answer([batch(0, 2)], "next"), request()).json();
  expect([page.ticks.length, page.next_cursor]).toEqual([2, "next"]);
  expect((await encodeTicks(answer([], null), request()).json()).next_cursor).toBeNull();
});

Deno.test("many candles in batches of many sizes arrive whole and in order", async () => {
  const batches = [];
  let from = 0;
  for (const size of [1, 700, 0, 3_000, 2, 5_000]) {
    batches.push(batch(from, size));
    from += size;
  }
  const { ticks } = await encodeTicks(answer(batches), request()).json();
  expect(ticks.length).toBe(8_703);
  ticks.forEach((tick: { timestamp: string; volume: number }, i: number) => {
    const timestamp = new Date(Date.UTC(2024, 0, 1) + i * 60_000).toISOString();
    if (tick.volume !== i || tick.timestamp !== timestamp) throw new Error(`Cannot find candle ${i} in its place`);
  });
});

Deno.test("a client that has the same candles already gets 304, and no candles are read", async () => {
  const first = encodeTicks(answer([batch(0, 1)]), request());
  const tag = first.headers.get("etag")!;
  await first.body?.cancel();
  const never = {
    [Symbol.asyncIterator](): never {
      throw new Error("Cannot be read");
    },
  };
  const second = encodeTicks(answer(never), request({ "if-none-match": tag }));
  expect([second.status, second.body, second.headers.get("etag")]).toEqual([304, null, tag]);
  expect(first.headers.get("cache-control")).toBe("public, max-age=60");
});

Deno.test("candles are read no faster than they are taken, and a reader who leaves ends the reading", async () => {
  let made = 0;
  let ended = false;
  async function* endless() {
    try {
      for (;;) {
        yield batch(4000 * made++, 4000);
        await Promise.resolve();
      }
    } finally {
      ended = true;
    }
  }
  const reader = encodeTicks(answer(endless()), request()).body!.getReader();
  expect(made).toBe(0);
  expect((await reader.read()).value!.length).toBeLessThan(100);
  const { value } = await reader.read();
  expect(value!.length).toBeGreaterThan(250_000);
  // 4,000 candles are some 360,000 bytes: one batch fills a piece, and the next is being read while it is written.
  expect(made).toBe(2);
  await reader.cancel();
  expect(ended).toBe(true);
});

Deno.test("candles are written as CSV and as Arrow for who asks for them", async () => {
  const csv = encodeTicks({ ...answer([batch(0, 1), batch(1, 1)], "more"), format: "csv" }, request());
  expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(csv.headers.get("x-next-cursor")).toBe("more");
  expect(await csv.text()).toBe(
    "timestamp,open,high,low,close,volume\n" +
      "2024-01-01T00:00:00.000Z,1,2.5,0.25,1.125,0\n2024-01-01T00:01:00.000Z,2,3.5,1.25,2.125,1\n",
  );
  const arrow = encodeTicks({ ...answer([batch(0, 3), batch(3, 2)]), format: "arrow" }, request());
  const table = tableFromIPC(new Uint8Array(await arrow.arrayBuffer()));
  expect(table.numRows).toBe(5);
  expect(table.batches.length).toBe(2);
  expect([...table.getChild("close")!]).toEqual([1.125, 2.125, 3.125, 4.125, 5.125]);
  expect(table.getChild("timestamp")!.get(4)).toBe(Date.UTC(2024, 0, 1, 0, 4));
  expect(table.schema.metadata.get("symbol")).toBe('A"B/ü');
  const empty = encodeTicks({ ...answer([]), format: "arrow" }, request());
  expect(tableFromIPC(new Uint8Array(await empty.arrayBuffer())).numRows).toBe(0);
});

Deno.test("the Accept header chooses where the request names no format", async () => {
  const typeFor = async (accept: string) => {
    const response = encodeTicks(answer([]), request({ accept }));
    await response.body?.cancel();
    return response.headers.get("content-type")?.split(";")[0];
  };
  expect(await typeFor("text/csv")).toBe("text/csv");
  expect(await typeFor("application/vnd.apache.arrow.stream, */*;q=0.1")).toBe("application/vnd.apache.arrow.stream");
  expect(await typeFor("text/csv;q=0.5, application/json")).toBe("application/json");
  expect(await typeFor("text/html, */*;q=0.8")).toBe("application/json");
  expect(await typeFor("text/csv;q=0")).toBe("application/json");
  const tags = ["text/csv", "application/json"].map((accept) =>
    encodeTicks(answer([]), request({ accept })).headers.get("etag")
  );
  expect(new Set(tags).size).toBe(2);
});

Deno.test("answers are packed for who accepts it, under a tag of their own", async () => {
  const plain = encodeTicks(answer([batch(0, 500)]), request());
  const packed = encodeTicks(answer([batch(0, 500)]), request({ "accept-encoding": "br;q=1, gzip;q=0.8" }));
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(packed.headers.get("content-encoding")).toBe("gzip");
  expect(packed.headers.get("etag")).not.toBe(plain.headers.get("etag"));
  expect(packed.headers.get("vary")).toBe("accept, accept-encoding");
  const unpacked = new Response(packed.body!.pipeThrough(new DecompressionStream("gzip")));
  expect(await unpacked.text()).toBe(await plain.text());
  const zstd = encodeTicks(answer([batch(0, 500)]), request({ "accept-encoding": "gzip, deflate, br, zstd" }));
  expect([zstd.headers.get("content-encoding"), zstd.headers.get("etag")?.slice(-6)]).toEqual(["zstd", '-zstd"']);
  const bytes = new Uint8Array(await zstd.arrayBuffer());
  expect(new TextDecoder().decode(zstdDecompressSync(bytes))).toBe(
    await encodeTicks(answer([batch(0, 500)]), request()).text(),
  );
  const refused = encodeTicks(answer([]), request({ "accept-encoding": "gzip;q=0, identity" }));
  expect(refused.headers.get("content-encoding")).toBeNull();
  await refused.body?.cancel();
});

Deno.test("each format is tagged, kept and packed alike: the tag is of the bytes, and 304 for who has them", async () => {
  const unpackers = { gzip: gunzipSync, zstd: zstdDecompressSync };
  const tags = new Set<string>();
  for (const format of ["json", "csv", "arrow"] as const) {
    const get = (headers: Record<string, string> = {}) =>
      encodeTicks({ ...answer([batch(0, 500), batch(500, 300)]), format }, request(headers));
    const plain = get();
    tags.add(plain.headers.get("etag")!);
    const bytes = new Uint8Array(await plain.arrayBuffer());
    for (const [packing, unpack] of Object.entries(unpackers)) {
      const packed = get({ "accept-encoding": packing });
      const tag = packed.headers.get("etag")!;
      tags.add(tag);
      const named = ["content-type", "content-encoding", "cache-control", "vary"].map((name) =>
        packed.headers.get(name)
      );
      expect(named).toEqual([
        plain.headers.get("content-type"),
        packing,
        "public, max-age=60",
        "accept, accept-encoding",
      ]);
      const body = new Uint8Array(await packed.arrayBuffer());
      expect(body.length).toBeLessThan(bytes.length);
      expect(new Uint8Array(unpack(body))).toEqual(bytes);
      const kept = get({ "accept-encoding": packing, "if-none-match": `"other", ${tag}` });
      expect([kept.status, kept.body, kept.headers.get("etag")]).toEqual([304, null, tag]);
      // Another encoding of the same candles has another tag.
      const other = get({ "if-none-match": tag });
      expect(other.status).toBe(200);
      await other.body?.cancel();
    }
  }
  expect(tags.size).toBe(9);
});

Deno.test("a stored chunk is read and written once, as long as it is remembered", async () => {
  const sha256 = crypto.randomUUID();
  let reads = 0;
  const stored = (rows: Rows) => ({ sha256, read: () => Promise.resolve((reads++, rows)) });
  const text = async (batches: TicksAnswer["batches"], format: "json" | "csv") =>
    await encodeTicks({ ...answer(batches), format }, request()).text();
  const first = await text([stored(rowsOf(0, 2_000)), batch(2_000, 1)], "json");
  const second = await text([stored(rowsOf(0, 2_000)), batch(2_000, 1)], "json");
  expect(second).toBe(first);
  expect(JSON.parse(second).ticks.length).toBe(2_001);
  expect(reads).toBe(1);
  // Another format is another text, and a chunk at the end of an answer has no comma behind it.
  expect((await text([stored(rowsOf(0, 2_000))], "csv")).split("\n").length).toBe(2_002);
  expect(reads).toBe(2);
  expect(JSON.parse(await text([stored(rowsOf(0, 2_000))], "json")).ticks.length).toBe(2_000);
  expect(reads).toBe(2);
});
