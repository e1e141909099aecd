import { expect } from "@std/expect";
import { zstdDecompressSync } from "node:zlib";
import { choosePacking, pack, type Packing } from "../../../server/answers/negotiation.ts";

Deno.test("the coding that a client likes best is chosen, zstd where it likes several as much", () => {
  expect(choosePacking(null)).toBeNull();
  expect(choosePacking("")).toBeNull();
  expect(choosePacking("identity")).toBeNull();
  expect(choosePacking("br, deflate")).toBeNull();
  expect(choosePacking("gzip")).toBe("gzip");
  // As browsers say it, and curl.
  expect(choosePacking("gzip, deflate, br, zstd")).toBe("zstd");
  expect(choosePacking("gzip, deflate, br")).toBe("gzip");
  expect(choosePacking("GZIP;q=0.8, zstd;q=0.5")).toBe("gzip");
  expect(choosePacking("gzip;q=0, zstd;q=0, *")).toBeNull();
  expect(choosePacking("identity, gzip;q=0.5")).toBeNull();
  expect(choosePacking("gzip, identity;q=0.5")).toBe("gzip");
});

/** Endless pieces of text that compress badly, how many were made, and whether their making has ended. */
function makeEndless() {
  const state = { made: 0, hasEnded: false };
  async function* pieces() {
    try {
      for (;;) {
        state.made++;
        yield crypto.getRandomValues(new Uint8Array(65_536));
        await Promise.resolve();
      }
    } finally {
      state.hasEnded = true;
    }
  }
  return { state, pieces: pieces() };
}

async function unpack(packed: AsyncIterable<Uint8Array<ArrayBuffer>>, packing: Packing): Promise<string> {
  const bytes = new Uint8Array(await new Response(ReadableStream.from(packed)).arrayBuffer());
  if (packing === "zstd") return new TextDecoder().decode(zstdDecompressSync(bytes));
  return await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

for (const packing of ["zstd", "gzip"] as const) {
  Deno.test(`packed bytes unpack to the same, a broken source breaks the stream, and a reader who leaves ends it (${packing})`, async () => {
    const texts = Array.from({ length: 300 }, (_, i) => `${i},`.repeat(1000));
    async function* pieces(fails: boolean) {
      for (const text of texts) {
        yield new TextEncoder().encode(text);
        await Promise.resolve();
      }
      if (fails) throw new Error("Cannot go on");
    }
    expect(await unpack(pack(pieces(false), packing), packing)).toBe(texts.join(""));
    await expect(Array.fromAsync(pack(pieces(true), packing))).rejects.toThrow("Cannot go on");

    const endless = makeEndless();
    const reader = pack(endless.pieces, packing);
    expect((await reader.next()).value?.length).toBeGreaterThan(0);
    await reader.return(undefined);
    expect(endless.state.hasEnded).toBe(true);
    // Some are on their way while one is taken.
    expect(endless.state.made).toBeLessThan(20);
  });
}
