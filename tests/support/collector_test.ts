import { expect } from "@std/expect";
import { Collector } from "./collector.ts";
import { readUntil } from "./until.ts";

Deno.test("an export that its process leaves in the middle is refused, and is no fault of the collector", async () => {
  const collector = new Collector();
  const { hostname, port } = new URL(collector.environment("api").OTEL_EXPORTER_OTLP_ENDPOINT ?? "");
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const head = ["POST /v1/traces HTTP/1.1", "host: x", "content-length: 1000", "expect: 100-continue", "", '{"half'];
  await connection.write(new TextEncoder().encode(head.join("\r\n")));
  const reader = connection.readable.pipeThrough(new TextDecoderStream()).getReader();
  // The collector is reading by then.
  const begun = await readUntil(reader, /100 Continue/);
  await connection.closeWrite();
  expect(await readUntil(reader, /HTTP\/1.1 [2-5]/, begun.replace(/.*100 Continue\r\n\r\n/, ""))).toMatch(
    /^HTTP\/1.1 400 /,
  );
  await reader.cancel();
  await collector.close();
  expect([collector.spans, collector.text]).toEqual([[], ""]);
});
