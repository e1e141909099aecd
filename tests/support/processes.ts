/** A process of the process table. A PID alone may be another process's a moment later. */
export interface ProcessKey {
  readonly pid: number;
  readonly startedAt: string;
}

/** The children of a process, their children and so on. Linux only: elsewhere there are none. */
export function listDescendants(pid: number): ProcessKey[] {
  const table = readTable();
  const found: ProcessKey[] = [];
  for (let parents = new Set([pid]); parents.size > 0;) {
    const children = table.filter((process) => parents.has(process.parent));
    found.push(...children.map(({ pid, startedAt }) => ({ pid, startedAt })));
    parents = new Set(children.map((child) => child.pid));
  }
  return found;
}

/**
 * The PIDs of a process's children, those included that nobody has waited for yet. Linux only.
 *
 * @throws Deno.errors.NotFound if there is no such process.
 */
export function listChildren(pid: number): number[] {
  return [...Deno.readDirSync(`/proc/${pid}/task`)].flatMap(({ name }) => {
    try {
      const text = Deno.readTextFileSync(`/proc/${pid}/task/${name}/children`);
      return text.split(" ").filter((child) => child !== "").map(Number);
    } catch {
      // The thread has ended meanwhile.
      return [];
    }
  });
}

/** Waits until none of the processes is left. @throws With what they are when they live on after `timeoutMs`. */
export async function untilGone(processes: readonly ProcessKey[], timeoutMs = 60_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const left = processes.filter(({ pid, startedAt }) => readProcess(pid)?.startedAt === startedAt);
    if (left.length === 0) return;
    if (performance.now() > deadline) throw new Error(`Processes live on: ${left.map(({ pid }) => pid).join(", ")}`);
    // The process table tells nobody of its changes.
    await new Promise((resume) => setTimeout(resume, 20));
  }
}

function readTable(): (ProcessKey & { readonly parent: number })[] {
  try {
    return Array.from(Deno.readDirSync("/proc")).flatMap(({ name }) => readProcess(Number(name)) ?? []);
  } catch {
    return [];
  }
}

/** Null where there is none, or nobody waits for its exit code any more. */
function readProcess(pid: number): (ProcessKey & { readonly parent: number }) | null {
  if (Number.isNaN(pid)) return null;
  try {
    const text = Deno.readTextFileSync(`/proc/${pid}/stat`);
    // The name before it, in parentheses, may hold spaces.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : { pid, parent: Number(fields[1]), startedAt: fields[19] ?? "" };
  } catch {
    return null;
  }
}
