/** The memory, files and children of a process. */
export interface Size {
  readonly megabytes: number;
  /** Sockets and pipes; not files, because an embedded database keeps one open for each table. */
  readonly handles: number;
}

// Garbage collectors return memory late and statement caches fill, so only continued growth counts.
const MEGABYTES_MAX = 400;
const HANDLES_MAX = 40;
const SETTLE_MS = 3000;

/** Measures a Linux process after a pause in which it settles. */
export async function measureSettled(pid: number): Promise<Size> {
  await new Promise((resume) => setTimeout(resume, SETTLE_MS));
  return await measure(pid);
}

/** Measures a Linux process at once. */
export async function measure(pid: number): Promise<Size> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  const opened = [...Deno.readDirSync(`/proc/${pid}/fd`)].map(({ name }) => readLink(`/proc/${pid}/fd/${name}`));
  const handles = opened.filter((target) => /^(socket|pipe):/.test(target)).length;
  return { megabytes: Math.round(kilobytes / 1024), handles };
}

/** Describes growth beyond the limits for a settled process; null without any. */
export function findGrowth(before: Size, after: Size): string | null {
  if (after.megabytes > before.megabytes + MEGABYTES_MAX) {
    return `from ${before.megabytes} MB to ${after.megabytes} MB`;
  }
  if (after.handles > before.handles + HANDLES_MAX) return `from ${before.handles} handles to ${after.handles}`;
  return null;
}

/** Empty if the link is gone meanwhile. */
function readLink(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return "";
  }
}
