import { expect } from "@std/expect";
import postgres from "postgres";
import { FORMATS } from "../../../workers/rows/table_format.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const MONTHS = "/api/market-data/ticks?symbol=DEMO&exchange=SAMPLE&startDate=2024-02-01&endDate=2024-04-01";
const NEWER = "'\\x28b52ffd00'::bytea";
// The last chunk of a body: without it, an answer is not whole.
const END = "\r\n0\r\n\r\n";

Deno.test("a download with a chunk of a newer build is cut, in each format and encoding", async () => {
  const service = await startTestService();
  const sql = postgres(service.databaseUrl, { max: 1, fetch_types: false, onnotice() {} });
  const requests = FORMATS.flatMap((format) => ["identity", "gzip", "br"].map((encoding) => ({ format, encoding })));
  for (const request of requests) expect([request, await download(service, request)]).toEqual([request, WHOLE]);
  await sql.unsafe(
    `update candle_chunks set data = ${NEWER}, sha256 = encode(sha256(${NEWER}), 'hex')
      where timeframe = '1m' and month = '2024-03-01'`,
  );
  for (const request of requests) expect([request, await download(service, request)]).toEqual([request, CUT]);
  // Where nothing has left yet, the answer has the reason.
  const page = await service.client().get(`${MONTHS.replace("2024-02-01", "2024-03-01")}&limit=10`);
  expect([page.status, page.at("/error/code")]).toEqual([503, "RECORD_UNREADABLE"]);
  await sql.end();
  await service.close();
});

const WHOLE = { status: "HTTP/1.1 200 OK", isLong: true, isWhole: true };
const CUT = { ...WHOLE, isWhole: false };

/** Reads an answer as the network has it. */
async function download({ url }: TestService, { format, encoding }: { readonly format: string; encoding: string }) {
  const { hostname, port, host } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const head = [`host: ${host}`, `accept-encoding: ${encoding}`, "connection: close"].join("\r\n");
  await connection.write(new TextEncoder().encode(`GET ${MONTHS}&format=${format} HTTP/1.1\r\n${head}\r\n\r\n`));
  let [text, bytes] = ["", 0];
  const decoder = new TextDecoder("latin1");
  for await (const piece of connection.readable) {
    // The beginning and the end are looked at.
    text = text.slice(0, 100) + text.slice(100).slice(-END.length) + decoder.decode(piece);
    bytes += piece.byteLength;
  }
  return { status: text.split("\r\n", 1)[0], isLong: bytes > 100_000, isWhole: text.endsWith(END) };
}
