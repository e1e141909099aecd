import { parseArgs } from "node:util";
import { runChunks, runEmbeddedChunks } from "./chunks.ts";
import { runDisk } from "./disk.ts";
import { runEmbedded } from "./embedded.ts";
import { type Fault, type Outcome, runFaults } from "./faults.ts";
import { onBucket, onPostgres } from "./ground.ts";
import { SeededRandom } from "./random.ts";
import { runSubmits } from "./submits.ts";
import { runZombies } from "./zombie.ts";

const HELP = `deno task faults [--scenario NAME] [--seed N] [--minutes M] [--scale F]

Breaks a service in many ways, on databases of its own, and checks the records: every accepted backtest ended once (in random, workers,
database, bucket and begin with scans and optimizations of portfolios among them), with the result of a clean run byte for byte, every record has its job, no process is left over, and no fault stopped work for thirty seconds.

  random    (default) eight faults of any kind over a hundred backtests, one seed after another, for M minutes
  workers   SIGKILL of a worker, 100 times over 1,000 backtests
  submits   SIGKILL of an API process at a random moment of a submission, 200 times
  database  PostgreSQL crashed 10 times and its connections ended 10 times, over 200 backtests
  begin     idle connections of a stopped API ended 100 times, so that transactions begin on dead ones, over 300 backtests
  bucket    results in a bucket that is away 10 times, and SIGKILL of a worker 10 times, over 200 backtests
  chunks    SIGKILL of a worker between the chunks of a large result, 40 times, and of a service on the embedded database (Linux)
  zombie    a worker is stopped, loses its runs to another, and continues, 10 times
  embedded  SIGKILL of a service on the embedded database at a random moment, 40 times
  disk      the embedded database's disk is full, 5 times (Linux: needs unshare and nsenter)

  --seed N     repeats a seed's choices (not the machine's timing); default 1
  --scale F    a fraction of the figures above, for a shorter run; default 1
`;

const { values } = parseArgs({
  args: Deno.args,
  options: {
    scenario: { type: "string", default: "random" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "1" },
    scale: { type: "string", default: "1" },
    help: { type: "boolean" },
  },
});
const scale = Number(values.scale);
const times = (count: number) => Math.max(1, Math.round(count * scale));

const SCENARIOS: Readonly<Record<string, (seed: number) => Promise<Outcome>>> = {
  random: (seed) =>
    onPostgres((ground) => runFaults(ground, { seed, faults: randomFaults(seed), backtests: times(100) })),
  workers: (seed) => {
    const faults = Array.from({ length: times(100) }, () => "worker killed" as const);
    return onPostgres((ground) => runFaults(ground, { seed, faults, backtests: times(1000) }));
  },
  submits: (seed) => onPostgres((ground) => runSubmits(ground, { seed, kills: times(200) })),
  database: (seed) => {
    const pair: readonly Fault[] = ["database crashed", "connections terminated"];
    const faults = Array.from({ length: times(10) }, () => pair).flat();
    return onPostgres((ground) => runFaults(ground, { seed, faults, backtests: times(200) }));
  },
  begin: (seed) => {
    const faults = Array.from({ length: times(100) }, () => "connections terminated unnoticed" as const);
    return onPostgres((ground) => runFaults(ground, { seed, faults, backtests: times(300) }));
  },
  bucket: (seed) => {
    const pair: readonly Fault[] = ["bucket away", "worker killed"];
    const faults = Array.from({ length: times(10) }, () => pair).flat();
    return onBucket((ground) => runFaults(ground, { seed, faults, backtests: times(200) }));
  },
  chunks: async (seed) => {
    const kills = times(40);
    const outcome = await onPostgres((ground) => runChunks(ground, { seed, kills }));
    const embedded = Object.entries(await runEmbeddedChunks({ seed, kills }));
    return { ...outcome, ...Object.fromEntries(embedded.map(([name, value]) => [`embedded ${name}`, value])) };
  },
  zombie: (seed) => onPostgres((ground) => runZombies(ground, { seed, rounds: times(10) })),
  embedded: (seed) => runEmbedded({ seed, kills: times(40) }),
  disk: (seed) => runDisk({ seed, rounds: times(5) }),
};

function randomFaults(seed: number): Fault[] {
  const random = new SeededRandom(seed);
  const kinds: Fault[] = ["worker killed", "api killed", "connections terminated", "database crashed"];
  return Array.from({ length: times(8) }, () => random.pick(kinds));
}

/** @returns True if the scenario passed. */
async function runSeed(scenario: (seed: number) => Promise<Outcome>, seed: number): Promise<boolean> {
  try {
    write(`${values.scenario}, seed ${seed}: ${JSON.stringify(await scenario(seed))}\n`);
    return true;
  } catch (error) {
    write(`${values.scenario}, seed ${seed}: ${error instanceof Error ? error.stack : error}\n`);
    return false;
  }
}

function write(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

async function main(): Promise<number> {
  const scenario = SCENARIOS[values.scenario];
  if (values.help || scenario === undefined) {
    write(HELP);
    return values.help ? 0 : 1;
  }
  const end = performance.now() + (values.scenario === "random" ? Number(values.minutes) * 60_000 : 0);
  let seed = Number(values.seed);
  do if (!await runSeed(scenario, seed++)) return 1; while (performance.now() < end);
  return 0;
}

Deno.exit(await main());
