/** The memory, files and children of a process. */
export interface Size {
  readonly megabytes: number;
  /** Sockets and pipes; not files, of which an embedded database keeps open as many as it has tables. */
  readonly handles: number;
}

// A garbage collector returns memory when it likes, and statement caches fill: only what goes on growing is found.
const MEGABYTES_MAX = 400;
const HANDLES_MAX = 40;
const SETTLE_MS = 3000;

/** Measures a process of Linux after a while in which it can settle. */
export async function measureSettled(pid: number): Promise<Size> {
  await new Promise((resume) => setTimeout(resume, SETTLE_MS));
  return await measure(pid);
}

/** Measures a process of Linux as it is. */
export async function measure(pid: number): Promise<Size> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  const opened = [...Deno.readDirSync(`/proc/${pid}/fd`)].map(({ name }) => readLink(`/proc/${pid}/fd/${name}`));
  const handles = opened.filter((target) => /^(socket|pipe):/.test(target)).length;
  return { megabytes: Math.round(kilobytes / 1024), handles };
}

/** Describes everything that has grown by more than a settled process may; null where nothing has. */
export function findGrowth(before: Size, after: Size): string | null {
  if (after.megabytes > before.megabytes + MEGABYTES_MAX) {
    return `from ${before.megabytes} MB to ${after.megabytes} MB`;
  }
  if (after.handles > before.handles + HANDLES_MAX) return `from ${before.handles} handles to ${after.handles}`;
  return null;
}

/** Empty where it is gone by now. */
function readLink(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return "";
  }
}
