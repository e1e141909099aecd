/** What a process holds. */
export interface Size {
  readonly megabytes: number;
  /** Open files, sockets and pipes. */
  readonly handles: number;
}

// A garbage collector returns memory when it likes, and statement caches fill: only what goes on growing is found.
const MEGABYTES_MAX = 400;
const HANDLES_MAX = 40;
const SETTLE_MS = 3000;

/** Measures a process of Linux, after a while in which it can settle. */
export async function measure(pid: number): Promise<Size> {
  await new Promise((resume) => setTimeout(resume, SETTLE_MS));
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  const handles = [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
  return { megabytes: Math.round(kilobytes / 1024), handles };
}

/** What has grown by more than a settled process may, in words; null where nothing has. */
export function findGrowth(before: Size, after: Size): string | null {
  if (after.megabytes > before.megabytes + MEGABYTES_MAX) {
    return `from ${before.megabytes} MB to ${after.megabytes} MB`;
  }
  if (after.handles > before.handles + HANDLES_MAX) return `from ${before.handles} handles to ${after.handles}`;
  return null;
}
