/** Shared by all benches: measures memory and time, and prints figures. */
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const MEBIBYTE = 1024 ** 2;

// V8 exposes `gc` only to a new context.
setFlagsFromString("--expose-gc");
const collectGarbage: unknown = runInNewContext("gc");

/** Watches the growth of the process's memory from the start to its peak, in MiB. */
export function watchMemory(): { growth(): number } {
  // Garbage of earlier work would be freed meanwhile and hide as much growth.
  if (typeof collectGarbage === "function") collectGarbage();
  const begun = Deno.memoryUsage().rss;
  let most = begun;
  const look = () => void (most = Math.max(most, Deno.memoryUsage().rss));
  const timer = setInterval(look, 20);
  const growth = () => {
    clearInterval(timer);
    look();
    return (most - begun) / MEBIBYTE;
  };
  return { growth };
}

/** Times work: seconds by the clock, and processor seconds of all threads. */
export async function timeWork(work: () => Promise<void>): Promise<{ seconds: number; cpuSeconds: number }> {
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await work();
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { seconds, cpuSeconds: (user + system) / 1e6 };
}

/** Does work. @returns Milliseconds of processor time of all threads. */
export function measureCpu(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The median of an odd count of numbers. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? NaN;
}

/** The value below which a share of the numbers lies. */
export function quantile(numbers: readonly number[], share: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(share * (numbers.length - 1))] ?? NaN;
}

/** Prints figures under a title, each beside its name. */
export async function printFigures(title: string, rows: Readonly<Record<string, string>>): Promise<void> {
  const text = Object.entries(rows).map(([name, value]) => `  ${value.padStart(10)}  ${name}\n`).join("");
  await Deno.stdout.write(new TextEncoder().encode(`${title}\n${text}`));
}

/** Prints a ratio to a figure of the same run, beside its goal. */
export async function printGoal(
  what: string,
  figureMs: number,
  than: string,
  thanMs: number,
  goal: number,
): Promise<void> {
  const ratio = (figureMs / thanMs).toFixed(2);
  await say(`${what}: ${ms(figureMs)} ms, ${ratio} x ${than} of ${ms(thanMs)} ms, goal ${goal.toFixed(1)} x`);
}

/** Milliseconds with as many digits as matter. */
export function ms(value: number): string {
  return value.toFixed(value < 10 ? 1 : 0);
}

/** Prints a line. */
export async function say(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
}

/** Milliseconds of processor time of a process with all its threads and the children that it has waited for. */
export function readCpuMs(pid: number): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]?.split(" ") ?? [];
  // User and system time of both in hundredths of a second.
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) * 10;
}
