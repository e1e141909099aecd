/** Processor time by the place where a run spends it; on Linux. */
import type { DatabaseHandle } from "../db/client.ts";
import { rowsOf } from "../db/answer_rows.ts";
import { sql } from "drizzle-orm";

// The kernel counts hundredths of a second.
const TICK_MS = 10;

/** Milliseconds of processor time until now. */
export interface ProcessorTimes {
  /** The thread of this process that serves and stores. */
  readonly main: number;
  /** Its other threads: runs, collections of garbage, an embedded database. */
  readonly threads: number;
  /** All processes of PostgreSQL; 0 for an embedded database. */
  readonly database: number;
}

/** Reads the times. @param server The id of PostgreSQL's first process; null for an embedded database. */
export function readProcessorTimes(server: number | null): ProcessorTimes {
  const own = [...Deno.readDirSync("/proc/self/task")].map(({ name }) => ({
    isMain: Number(name) === Deno.pid,
    ms: readMs(`/proc/self/task/${name}`),
  }));
  const sum = (times: readonly { readonly ms: number }[]) => times.reduce((total, { ms }) => total + ms, 0);
  return {
    main: sum(own.filter(({ isMain }) => isMain)),
    threads: sum(own.filter(({ isMain }) => !isMain)),
    database: server === null
      ? 0
      : sum([server, ...listChildren(server)].map((pid) => ({ ms: readMs(`/proc/${pid}`) }))),
  };
}

/** The id of PostgreSQL's first process, if it runs on this machine. */
export async function findServer({ db, connection }: DatabaseHandle): Promise<number | null> {
  if (connection.kind === "pglite") return null;
  const [row] = rowsOf(await db.execute(sql`select pg_backend_pid() as pid`));
  try {
    return Number(fieldsOf(`/proc/${Object(row).pid}`)[1]);
  } catch {
    return null;
  }
}

function listChildren(pid: number): number[] {
  return Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`).trim().split(" ").filter(Boolean).map(Number);
}

function readMs(path: string): number {
  try {
    // User and system time, and that of children that have ended.
    return fieldsOf(path).slice(11, 15).reduce((ticks, field) => ticks + Number(field), 0) * TICK_MS;
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}

/** The fields behind the name, which may have spaces: its state, its parent and so on. */
function fieldsOf(path: string): string[] {
  return Deno.readTextFileSync(`${path}/stat`).split(") ").at(-1)?.split(" ") ?? [];
}
