/** The README's first hour of an operator, as it says it, against an exchange on a socket. */
import { expect } from "@std/expect";
import { withProvider } from "./support/provider.ts";
import { INGESTION_SECRET, startTestService } from "./support/service.ts";

const INTERVALS: Readonly<Record<string, number>> = { "1h": 3_600_000, "1d": 86_400_000 };

Deno.test("the README's lines add an instrument, backfill it, watch the events and read its candles", async () => {
  const readme = await Deno.readTextFile(new URL("../README.md", import.meta.url));
  const script = readme.match(/^```sh\n(SECRET=.*?)^```$/ms)?.[1];
  if (script === undefined) throw new Error("Cannot find the operator's lines in the README");
  const exchange = (url: URL) => {
    const get = (name: string) => Number(url.searchParams.get(name));
    const length = INTERVALS[url.searchParams.get("interval") ?? ""] ?? 0;
    const rows = [];
    for (let time = get("startTime"); time <= get("endTime") && rows.length < 1000; time += length) {
      rows.push([time, "1", "2", "0.5", "1.5", "10", time + length - 1, "0", 1, "0", "0", "0"]);
    }
    return Response.json(rows);
  };
  await withProvider(exchange, async (baseUrl) => {
    const service = await startTestService("PostgreSQL", { BINANCE_BASE_URL: baseUrl });
    const env = { API: `${service.url}/api`, INGESTION_ADMIN_SECRET: INGESTION_SECRET };
    const shell = new Deno.Command("sh", { args: ["-euc", script], env, stdout: "piped", stderr: "piped" });
    const { code, stdout, stderr } = await shell.output();
    expect([code, new TextDecoder().decode(stderr)]).toEqual([0, ""]);
    const answers = new TextDecoder().decode(stdout);
    expect(answers).toContain('"schedule":"5 * * * *"');
    expect(answers).toContain('"status":"queued"');
    // Thirty-one days of January, whether the run had come to them or they were fetched for the request.
    expect(answers.match(/^2024-01-..T00:00:00.000Z,1,2,0.5,1.5,\d+$/gm)?.length).toBe(31);
    await service.close();
  });
});
