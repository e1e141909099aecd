/**
 * `deno task fuzz [--seed N] [--minutes M] [--database NAME]`: sends random and mutated requests to a service of its own, one seed after
 * another, for M minutes.
 *
 * On a failure it prints the seed and the smallest request that shows the failure. `--seed` repeats its choices, but not the timing.
 */
import { parseArgs } from "node:util";
import { startPostgres } from "../support/postgres.ts";
import { type RunningProcess, startProcess } from "../support/process.ts";
import { type Failure, fuzz, type Tally } from "./fuzzer.ts";
import { buildConsole } from "../../web/build.ts";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { findGrowth, measure, measureSettled, type Size } from "./growth.ts";
import { listAccountTargets, listTargets } from "./targets.ts";
import { startOutside, World } from "./world.ts";

const HELP =
  `Sends random and mutated requests to a service of its own, and tells of the first that is answered as none may be.

  deno task fuzz [--seed N] [--minutes M] [--database PGlite|PostgreSQL]

  --seed N         the first seed; those after it follow while there is time (default 1)
  --minutes M      for how long (default 1)
  --database NAME  what the service keeps its data in (default PostgreSQL, started for this)
`;
const REQUESTS_PER_SEED = 2000;

const { values } = parseArgs({
  args: Deno.args,
  options: {
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "1" },
    database: { type: "string", default: "PostgreSQL" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  write(HELP);
  Deno.exit(0);
}
const [seed, minutes] = [Number(values.seed), Number(values.minutes)];
if (!Number.isSafeInteger(seed) || !(minutes > 0) || !["PGlite", "PostgreSQL"].includes(values.database)) {
  write(HELP);
  Deno.exit(2);
}
Deno.exit(await run());

async function run(): Promise<number> {
  await using opened = new AsyncDisposableStack();
  const outside = startOutside();
  opened.defer(() => outside.close());
  const folder = await Deno.makeTempDir({ prefix: "hindcast-fuzz-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  const environment = { DATA_DIR: folder, WORKERS: "2", ...outside.environment };
  // Reports and scripts in Python are refused as unavailable until these are there.
  await buildConsole();
  await buildInterpreter();
  const service = await startProcess("serve", { ...environment, ...await openDatabase(opened) });
  const isWell = await fuzzFor(service, outside.origin).catch((error) => {
    write(`${error instanceof Error ? error.stack : error}\n`);
    return false;
  });
  const { code, stderr } = await service.end("SIGTERM");
  // Every logged error is a fault of ours, even if no answer showed it.
  if (stderr !== "") write(`The service wrote:\n${stderr.slice(0, 20_000)}\n`);
  if (code !== 0) write(`The service ended with ${code}.\n`);
  return isWell && stderr === "" && code === 0 ? 0 : 1;
}

async function openDatabase(opened: AsyncDisposableStack): Promise<Record<string, string>> {
  if (values.database === "PGlite") return {};
  const server = await startPostgres();
  opened.defer(() => server.stop());
  return { DATABASE_URL: server.url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
}

async function fuzzFor({ url, pid }: RunningProcess, outside: string): Promise<boolean> {
  const targets = [...await listTargets(), ...listAccountTargets()];
  const world = await World.open(url, outside);
  const until = performance.now() + minutes * 60_000;
  let before: Size | undefined;
  for (let now = seed; performance.now() < until; now++) {
    const { failure, tally } = await fuzz(world, targets, { seed: now, requests: REQUESTS_PER_SEED, until });
    const { megabytes } = await measure(pid);
    write(`seed ${now}: ${show(tally)}; ${megabytes} MB\n`);
    if (failure !== null) {
      write(report(now, failure));
      return false;
    }
    // The first seed warms it up.
    before ??= await measureSettled(pid);
  }
  const after = await measureSettled(pid);
  write(
    `${after.megabytes} MB, ${after.handles} handles; after the first seed ${before?.megabytes} and ${before?.handles}\n`,
  );
  const growth = before === undefined ? null : findGrowth(before, after);
  if (growth !== null) write(`It grows: ${growth}\n`);
  return growth === null;
}

function show(tally: Tally): string {
  return Object.entries(tally).map(([status, count]) => `${count} x ${status}`).join(", ");
}

function report(seed: number, { kind, detail, caller, mutations, request }: Failure): string {
  const changes = mutations.length === 0 ? "nothing" : mutations.join("; ");
  return `\nseed ${seed} fails: ${kind}\n${detail}\n\nsent as ${caller}, changed by ${changes}:\n\n${request}\n`;
}

function write(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}
