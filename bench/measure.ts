/** Shared by all benches: measures time, and reports each measure as a row. */
import process from "node:process";
import { formatTable, type Row } from "./table.ts";

/** Prints a row and, under `deno task bench`, adds it to the table that ends it. */
export async function report(row: Row): Promise<void> {
  await say(formatTable([row], { hasHead: false }));
  const file = Deno.env.get("BENCH_ROWS");
  if (file !== undefined) await Deno.writeTextFile(file, `${JSON.stringify(row)}\n`, { append: true });
}

/** Prints a line. */
export async function say(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
}

/** Time that work took, in milliseconds. */
export interface Taken {
  readonly ms: number;
  /** Of the processor, on all threads. */
  readonly cpuMs: number;
}

/** Times work. */
export async function timeWork(work: () => Promise<void> | void): Promise<Taken> {
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await work();
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1000 };
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
  return quantile(numbers, 0.5);
}

/** The value below which a share of the numbers lies. */
export function quantile(numbers: readonly number[], share: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(share * (numbers.length - 1))] ?? NaN;
}

/** Milliseconds of processor time of a process with all its threads and the children that it has waited for. */
export function readCpuMs(pid: number): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]?.split(" ") ?? [];
  // User and system time of both in hundredths of a second.
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) * 10;
}
