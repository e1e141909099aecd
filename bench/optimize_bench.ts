/**
 * An optimization over HTTP to a process of its own, from its submission to its end, beside the engine alone doing the same trials one
 * after the other: on an embedded database, and on PostgreSQL. The clock's ratio holds on a quiet machine alone; the processor's does on
 * any.
 *
 * `deno run --allow-all bench/optimize_bench.ts [rounds]`; with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import { measureTrial } from "../engine/run.ts";
import { startProcess } from "../tests/support/process.ts";
import { onBothDatabases } from "./both_databases.ts";
import { median, readCpuMs, say, timeWork } from "./measure.ts";
import { HOURS, inputsOf, MINUTES, optimize, type Scan } from "./optimize_scans.ts";
import { readYear } from "./run_path_cases.ts";

const RATIO_GOAL = 1.2;
const HOURS_GOAL_MS = 1000;
const rounds = Number(Deno.args[0] ?? 5);
const year = readYear();

await onBothDatabases(year, measure);

async function measure(kind: string, environment: Record<string, string>): Promise<void> {
  const cores = navigator.hardwareConcurrency;
  const service = await startProcess("serve", { WORKERS: String(cores), ...environment });
  try {
    const client = service.client();
    await client.signUp();
    for (const scan of [HOURS, MINUTES]) {
      // The service's code becomes quick with use.
      for (let k = 0; k < 2; k++) await optimize(client, scan);
      const [taken, busy, alone, aloneCpu]: [number[], number[], number[], number[]] = [[], [], [], []];
      for (let k = 0; k < rounds; k++) {
        const engine = await timeWork(() => Promise.resolve(runAlone(scan)));
        alone.push(engine.seconds * 1000);
        aloneCpu.push(engine.cpuSeconds * 1000);
        const cpu = readCpuMs(service.pid);
        taken.push(await optimize(client, scan));
        busy.push(readCpuMs(service.pid) - cpu);
      }
      const [takenMs, aloneMs, busyMs] = [median(taken), median(alone), median(busy)];
      await say(`${kind}, ${scan.name}: ${takenMs.toFixed(0)} ms from submission to end`);
      await say(
        `  ${(takenMs / (aloneMs / cores)).toFixed(2)} x the engine alone on ${cores} cores, goal ${RATIO_GOAL} x ` +
          `(${aloneMs.toFixed(0)} ms on one)`,
      );
      const cpuMs = median(aloneCpu);
      await say(
        `  ${(busyMs / cpuMs).toFixed(2)} x its processor time of ${cpuMs.toFixed(0)} ms, goal ${RATIO_GOAL} x`,
      );
      if (scan === HOURS) await say(`  goal ${HOURS_GOAL_MS} ms from submission to end`);
    }
  } finally {
    await service.end("SIGTERM");
  }
}

/** The engine does all trials, one after the other. */
function runAlone(scan: Scan): void {
  for (const input of inputsOf(scan, year)) measureTrial(input);
}
