/** The limits that Linux itself puts on a sandbox process. */

/** The limits of a process that only the system enforces. */
interface SystemLimits {
  /** Writable memory beyond what the process has now. The watch of its resident memory ends it earlier. */
  readonly memoryBytesMax: number;
  /** Time of all processors together. */
  readonly cpuSecondsMax: number;
}

// Names and numbers of <sys/resource.h>, <sys/prctl.h> and <fcntl.h>, equal on x86-64 and ARM.
const RLIMIT_CPU = 0;
const RLIMIT_DATA = 2;
const RLIMIT_CORE = 4;
const PRIO_PROCESS = 0;
const PR_SET_NO_NEW_PRIVS = 38;
const O_RDONLY = 0;
const O_WRONLY = 1;

const NICE = 5;
const OOM_SCORE_ADJ = "1000";
const PAGE_BYTES = 4096n;
/** The place of `data` in /proc/self/statm. */
const STATM_DATA = 5;
/** The place of the name in a `struct dirent`. */
const DIRENT_NAME = 19;

type Libc = ReturnType<typeof openLibc>["symbols"];

/**
 * Confines this process for good, then gives up the permission that it needs for that. Call it before the Worker exists.
 *
 * Elsewhere than on Linux, and where the C library is another, only the permission is given up: what the runtime allows, and the
 * parent's limits, hold everywhere.
 */
export function confine(limits: SystemLimits): void {
  if (Deno.build.os === "linux") confineOnLinux(limits);
  Deno.permissions.revokeSync({ name: "ffi" });
}

function confineOnLinux({ memoryBytesMax, cpuSecondsMax }: SystemLimits): void {
  let library: ReturnType<typeof openLibc>;
  try {
    library = openLibc();
  } catch {
    // Another C library.
    return;
  }
  const libc = library.symbols;
  libc.prctl(PR_SET_NO_NEW_PRIVS, 1n, 0n, 0n, 0n);
  write(libc, "/proc/self/oom_score_adj", OOM_SCORE_ADJ);
  const data = BigInt(read(libc, "/proc/self/statm").split(" ")[STATM_DATA] ?? 0) * PAGE_BYTES;
  if (data > 0n) limit(libc, RLIMIT_DATA, data + BigInt(memoryBytesMax));
  limit(libc, RLIMIT_CPU, BigInt(cpuSecondsMax));
  limit(libc, RLIMIT_CORE, 0n);
  // Linux keeps the priority for each thread; a new one has that of the thread which starts it.
  for (const thread of listThreads(libc)) libc.setpriority(PRIO_PROCESS, thread, NICE);
  library.close();
}

function openLibc() {
  return Deno.dlopen("libc.so.6", {
    prctl: { parameters: ["i32", "u64", "u64", "u64", "u64"], result: "i32" },
    setrlimit: { parameters: ["i32", "buffer"], result: "i32" },
    setpriority: { parameters: ["i32", "u32", "i32"], result: "i32" },
    open: { parameters: ["buffer", "i32"], result: "i32" },
    read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
    write: { parameters: ["i32", "buffer", "usize"], result: "isize" },
    close: { parameters: ["i32"], result: "i32" },
    opendir: { parameters: ["buffer"], result: "pointer" },
    readdir: { parameters: ["pointer"], result: "pointer" },
    closedir: { parameters: ["pointer"], result: "i32" },
  });
}

function limit(libc: Libc, resource: number, most: bigint): void {
  // `struct rlimit`: the soft limit and the hard one.
  libc.setrlimit(resource, new BigUint64Array([most, most]));
}

function write(libc: Libc, path: string, text: string): void {
  const file = libc.open(toCString(path), O_WRONLY);
  if (file < 0) return;
  const bytes = new TextEncoder().encode(text);
  libc.write(file, bytes, BigInt(bytes.length));
  libc.close(file);
}

/** The beginning of a file; empty if it cannot be read. */
function read(libc: Libc, path: string): string {
  const file = libc.open(toCString(path), O_RDONLY);
  if (file < 0) return "";
  const bytes = new Uint8Array(256);
  const count = Number(libc.read(file, bytes, BigInt(bytes.length)));
  libc.close(file);
  return new TextDecoder().decode(bytes.subarray(0, Math.max(0, count)));
}

/** The numbers of this process's threads. */
function listThreads(libc: Libc): number[] {
  const folder = libc.opendir(toCString("/proc/self/task"));
  if (folder === null) return [];
  const threads: number[] = [];
  for (let entry = libc.readdir(folder); entry !== null; entry = libc.readdir(folder)) {
    const thread = Number(new Deno.UnsafePointerView(entry).getCString(DIRENT_NAME));
    // The other names are "." and "..".
    if (thread > 0) threads.push(thread);
  }
  libc.closedir(folder);
  return threads;
}

function toCString(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}
