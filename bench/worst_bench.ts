/**
 * How long a health check takes while one user does their worst, beside the same service when idle: on an embedded database and on
 * PostgreSQL, over HTTP to a process of its own with the permissions of its task.
 *
 * `deno run --allow-all bench/worst_bench.ts [FILTER]`: only acts whose names contain the filter; with TEST_DATABASE_URL as
 * `deno task bench` sets it.
 */
import { startProcess } from "../tests/support/process.ts";
import { type Kind, KINDS, makeDatabase } from "./both_databases.ts";
import { quantile, report, say } from "./measure.ts";
import { ACTS, type Stage } from "./worst_acts.ts";
import { startFeed, startHinter } from "./worst_servers.ts";

// Asked whether or not the earlier ones were answered: a silence is seen from its beginning to its end.
const HEALTH_EVERY_MS = 20;
const IDLE_MS = 2_000;
const GOALS_MS = { embedded: 2_000, PostgreSQL: 200 } as const;

const [filter = ""] = Deno.args;
for (const kind of KINDS) {
  const { environment, drop } = await makeDatabase(kind);
  try {
    await measure(kind, environment);
  } finally {
    await drop();
  }
}

async function measure(kind: Kind, environment: Readonly<Record<string, string>>): Promise<void> {
  await using servers = new AsyncDisposableStack();
  const [feed, hinter] = [startFeed(), startHinter()];
  servers.defer(() => feed.close());
  servers.defer(() => hinter.close());
  const service = await startProcess("serve", {
    WORKERS: "2",
    RUN_SECONDS_MAX: "20",
    STREAM_STALL_SECONDS: "5",
    BINANCE_BASE_URL: feed.url,
    REMOTE_ENDPOINT_ALLOW: new URL(hinter.url).host,
    ...environment,
  });
  servers.defer(async () => void await service.end("SIGTERM"));
  const user = async () => {
    const client = service.client();
    await client.signUp();
    return client;
  };
  const stage: Stage = { url: service.url, hinterUrl: hinter.url, worst: await user(), other: await user() };
  const acts: typeof ACTS = { "idle": pauseIdle, ...ACTS };
  let idle = NaN;
  for (const [name, act] of Object.entries(acts)) {
    if (name !== "idle" && !name.includes(filter)) continue;
    const { latencies, note } = await watchHealth(service.client(), () => act(stage));
    const [p50, p99, longest] = [0.5, 0.99, 1].map((share) => quantile(latencies, share));
    if (name === "idle") idle = p99!;
    await say(`${name}: p50 ${p50!.toFixed(0)} ms, longest ${longest!.toFixed(0)} ms${note === "" ? "" : `; ${note}`}`);
    await report({
      measure: `${kind}: a health check (p99) during: ${name}`,
      ours: p99!,
      reference: name === "idle" ? null : { name: "when idle", value: idle },
      goal: { of: "ours", most: GOALS_MS[kind] },
    });
  }
}

async function pauseIdle(): Promise<string> {
  await new Promise((resume) => setTimeout(resume, IDLE_MS));
  return "";
}

async function watchHealth(client: Stage["worst"], act: () => Promise<string>) {
  const asked: Promise<number>[] = [];
  const ask = async () => {
    const begun = performance.now();
    await client.get("/api/health");
    return performance.now() - begun;
  };
  const timer = setInterval(() => asked.push(ask()), HEALTH_EVERY_MS);
  try {
    const note = await act();
    return { note, latencies: await Promise.all(asked) };
  } finally {
    clearInterval(timer);
  }
}
