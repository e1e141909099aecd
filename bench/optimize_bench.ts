/**
 * An optimization over HTTP to a process of its own, from its submission to its end, beside the engine alone doing the same trials one
 * after the other, and beside a floor: the same slices and the measure of luck on bare threads. On an embedded database, and on
 * PostgreSQL. The clock's ratios hold on a quiet machine alone; the processor's do on any.
 *
 * `deno run --allow-all bench/optimize_bench.ts [rounds]`; with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import { measureTrial } from "../engine/run.ts";
import { startProcess } from "../tests/support/process.ts";
import { BareTrials } from "./bare_trials.ts";
import { onBothDatabases } from "./both_databases.ts";
import { median, readCpuMs, say, timeWork } from "./measure.ts";
import { HOURS, inputsOf, MINUTES, optimize, type Scan } from "./optimize_scans.ts";
import { readYear } from "./run_path_cases.ts";

const RATIO_GOAL = 1.2;
const HOURS_GOAL_MS = 1000;
const rounds = Number(Deno.args[0] ?? 5);
const year = readYear();

const cores = navigator.hardwareConcurrency;
const bareTrials = new BareTrials(cores);

await onBothDatabases(year, measure);
bareTrials.close();

async function measure(kind: string, environment: Record<string, string>): Promise<void> {
  const service = await startProcess("serve", { WORKERS: String(cores), ...environment });
  try {
    const client = service.client();
    await client.signUp();
    for (const scan of [HOURS, MINUTES]) {
      // The service's code becomes quick with use.
      for (let k = 0; k < 2; k++) {
        await optimize(client, scan);
        await bareTrials.run(scan, year);
      }
      const all: Record<"service" | "engine" | "bare", Taken[]> = { service: [], engine: [], bare: [] };
      for (let k = 0; k < rounds; k++) {
        all.engine.push(await timeHere(() => Promise.resolve(runAlone(scan))));
        all.bare.push(await timeHere(() => bareTrials.run(scan, year)));
        const cpuMs = readCpuMs(service.pid);
        const ms = await optimize(client, scan);
        all.service.push({ ms, cpuMs: readCpuMs(service.pid) - cpuMs });
      }
      const [taken, engine, bare] = [medianOf(all.service), medianOf(all.engine), medianOf(all.bare)];
      await say(`${kind}, ${scan.name}: ${taken.ms.toFixed(0)} ms from submission to end`);
      await say(
        `  ${(taken.ms / (engine.ms / cores)).toFixed(2)} x the engine alone on ${cores} cores, goal ${RATIO_GOAL} x ` +
          `(${engine.ms.toFixed(0)} ms on one)`,
      );
      await say(
        `  ${(taken.cpuMs / engine.cpuMs).toFixed(2)} x its processor time of ${engine.cpuMs.toFixed(0)} ms, ` +
          `goal ${RATIO_GOAL} x`,
      );
      await say(
        `  ${(taken.ms / bare.ms).toFixed(2)} x the bare slices and their luck on ${cores} threads (${
          bare.ms.toFixed(0)
        } ms), ${(taken.cpuMs / bare.cpuMs).toFixed(2)} x their processor time of ${bare.cpuMs.toFixed(0)} ms`,
      );
      if (scan === HOURS) await say(`  goal ${HOURS_GOAL_MS} ms from submission to end`);
    }
  } finally {
    await service.end("SIGTERM");
  }
}

interface Taken {
  readonly ms: number;
  /** Of the processor. */
  readonly cpuMs: number;
}

async function timeHere(work: () => Promise<void>): Promise<Taken> {
  const { seconds, cpuSeconds } = await timeWork(work);
  return { ms: seconds * 1000, cpuMs: cpuSeconds * 1000 };
}

function medianOf(all: readonly Taken[]): Taken {
  return { ms: median(all.map(({ ms }) => ms)), cpuMs: median(all.map(({ cpuMs }) => cpuMs)) };
}

/** The engine does all trials, one after the other. */
function runAlone(scan: Scan): void {
  for (const input of inputsOf(scan, year)) measureTrial(input);
}
