/** What README.md says of operation: its lines are run as it says them, and its tables are held to the code. */
import { expect } from "@std/expect";
import manifest from "../../deno.json" with { type: "json" };
import { inCluster } from "../support/cluster.ts";
import { createTestDatabase } from "../support/database.ts";
import { freePort } from "../support/free_port.ts";
import { blockIn, readPage, ROOT, runLines } from "../support/pages.ts";
import { withProvider } from "../support/provider.ts";

const PAGE = await readPage("README.md");

Deno.test("the lines start a cluster and restart its processes one after another", async () => {
  const { url, drop } = await createTestDatabase("service");
  const script = `${blockIn(PAGE, "sh", "export DATABASE_URL=")}\n${blockIn(PAGE, "sh", "kill -TERM")}
    until curl -sf http://127.0.0.1:8001/api/health; do sleep 0.2; done
    kill -TERM $API1 $API2 $WORKER
    wait $API1; wait $API2
    # It may not have come so far as to listen for signals.
    wait $WORKER || test $? = 143`
    .replace(/postgres:\/\/\S+/, url).replaceAll("8001", String(freePort())).replaceAll("8002", String(freePort()));
  const { code, stdout, stderr } = await runLines(script, { env: { LOG_LEVEL: "error" } });
  const said = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("Task "));
  expect([code, said]).toEqual([0, []]);
  expect(stdout.match(/"status":"ok"/g)?.length).toBe(4);
  expect(stdout.match(/Hindcast listens on/g)?.length).toBe(3);
  await drop();
});

Deno.test("the line that starts a service with OpenTelemetry exports to a collector", async () => {
  const line = blockIn(PAGE, "sh", "OTEL_DENO=");
  const given = Object.fromEntries(line.matchAll(/(OTEL_\w+)=(\S+)/g).map(([, name, value]) => [name, value ?? ""]));
  expect(Object.keys(given)).toContain("OTEL_EXPORTER_OTLP_ENDPOINT");
  const arrived = new Set<string>();
  const collect = (url: URL, request: Request) => {
    arrived.add(`${url.pathname} ${request.headers.get("content-type")}`);
    return new Response(null);
  };
  await inCluster((start) =>
    withProvider(collect, async (baseUrl) => {
      const service = await start("serve", { ...given, OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl });
      await service.client().get("/api/health");
      await service.end("SIGTERM");
    })
  );
  expect([...arrived].toSorted()).toEqual(["/v1/metrics application/x-protobuf", "/v1/traces application/x-protobuf"]);
});

Deno.test("the list of permissions is what the commands run with", () => {
  const commands = ["start", "worker", "admin", "demo", "strategy"] as const;
  const given = commands.flatMap((command) => {
    const [, run = ""] = manifest.tasks[command].command.split(/(?:^|&& )deno run /);
    return run.replaceAll('"', "").replaceAll("$(cat server/variables.txt)", "VARIABLES").split(" ")
      // The rest says where packages come from.
      .filter((part) => /^--(allow|deny|ignore|no-prompt)/.test(part)).map((flag) => `${command} ${flag}`);
  });
  const code = "db/migrations,engine,strategies/builtin,workers,/proc";
  const rows = [...PAGE.matchAll(/^\| `(--[a-z]+-[^`]+)` +\| ([a-z, ]+?) +\|/gm)];
  const listed = rows.flatMap(([, flag = "", names = ""]) =>
    names.split(", ").map((command) => {
      // Only those that start sandboxes look for a program.
      const own = command === "admin" ? "VARIABLES" : "PATH,VARIABLES";
      return `${command} ${flag.replace("CODE", code).replace("VARIABLES", own)}`;
    })
  );
  expect(listed.toSorted()).toEqual(given.toSorted());
});

Deno.test("the list of metrics has every one of ours and no other", async () => {
  const sources = await Promise.all(
    ["workers/telemetry.ts", "market/fetch_series.ts", "market/feeds/provider_client.ts"].map((path) =>
      Deno.readTextFile(`${ROOT}${path}`)
    ),
  );
  const made = sources.flatMap((text) =>
    [...text.matchAll(/\.create\w+\("([a-z.]+)", \{[^}]*?unit: "([^"]+)"/g)].map(([, name, unit]) => [name, unit])
  );
  const rows = [...PAGE.matchAll(/^\| `(hindcast\.[a-z.]+)` +\| `([^`]+)`/gm)].map(([, name, unit]) => [name, unit]);
  expect(rows.toSorted()).toEqual(made.toSorted());
});
