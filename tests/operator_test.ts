/** The README's lines for an operator, as it says them: the first hour, against an exchange on a socket, and a cluster. */
import { expect } from "@std/expect";
import { dirname } from "node:path";
import { createTestDatabase } from "./support/database.ts";
import { freePort } from "./support/free_port.ts";
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

Deno.test("the README's lines start a cluster and restart its processes one after another", async () => {
  const readme = await Deno.readTextFile(new URL("../README.md", import.meta.url));
  const [start, restart] = [/^```sh\n(export DATABASE_URL=.*?)^```$/ms, /^```sh\n(kill -TERM .*?)^```$/ms]
    .map((lines) => readme.match(lines)?.[1] ?? "");
  const { url, drop } = await createTestDatabase("service");
  const script = `${start}\n${restart}
    until curl -sf http://127.0.0.1:8001/api/health; do sleep 0.2; done
    kill -TERM $API1 $API2 $WORKER
    wait $API1; wait $API2
    # It may not have come so far as to listen for signals.
    wait $WORKER || test $? = 143`
    .replace(/postgres:\/\/\S+/, url).replaceAll("8001", String(freePort())).replaceAll("8002", String(freePort()));
  const shell = new Deno.Command("sh", {
    args: ["-euc", script],
    cwd: new URL("..", import.meta.url).pathname,
    env: { PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`, LOG_LEVEL: "error", NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await shell.output();
  const said = new TextDecoder().decode(stderr).split("\n").filter((line) => line !== "" && !line.startsWith("Task "));
  expect([code, said]).toEqual([0, []]);
  const answers = new TextDecoder().decode(stdout);
  expect(answers.match(/"status":"ok"/g)?.length).toBe(4);
  expect(answers.match(/Hindcast listens on/g)?.length).toBe(3);
  await drop();
});
