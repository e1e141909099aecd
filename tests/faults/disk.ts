import { expect } from "@std/expect";
import { join } from "node:path";
import { type RunningProcess, startProcess } from "../support/process.ts";
import { copyFolder } from "../support/copy_folder.ts";
import { checkAcknowledged, checkDatabase, signedIn, untilNoneIsLeft } from "./embedded.ts";
import type { Outcome } from "./faults.ts";
import { checkResults, pause } from "./invariants.ts";
import { SeededRandom } from "./random.ts";
import { runClean, Submissions } from "./workload.ts";

const DISK_BYTES = 2 ** 30;
// Below the limit that makes the database read-only, and more than a moment's writes.
const LEFT_BYTES_MIN = 2 ** 25;
const LEFT_BYTES_MAX = 2 ** 26;
const REFUSALS = 5;
const SUBMITS_MAX = 100;
const RECOVERY_MS_MAX = 30_000;

/**
 * Fills the disk of the embedded database while backtests are submitted, frees it again, and checks that the service, by itself or after
 * a SIGKILL meanwhile, continues with everything that it had acknowledged.
 *
 * @param dataDir Begins with a copy of this ended service's directory; default: with a first start.
 * @throws When something is lost, duplicated or different, or the service does not continue within thirty seconds.
 */
export async function runDisk(
  { seed, rounds, dataDir }: { readonly seed: number; readonly rounds: number; readonly dataDir?: string },
): Promise<Outcome> {
  const begun = performance.now();
  const random = new SeededRandom(seed);
  const disk = await SmallDisk.mount();
  if (dataDir !== undefined) copyFolder(dataDir, join(disk.outside, "data"));
  const environment = { DATA_DIR: join(disk.path, "data"), WORKERS: "1", USER_BACKTESTS_MAX: "1000000" };
  const start = () => startProcess("serve", { ...environment, LOG_LEVEL: "error" }, disk.within);
  let service = await start();
  try {
    const user = service.client();
    await user.signUp();
    const clean = await runClean(user);
    const submissions = new Submissions();
    let recoveryMs = 0;
    let ended = 0;
    for (let round = 0; round < rounds; round++) {
      const isKilled = random.below(2) === 0;
      await disk.fill(LEFT_BYTES_MIN + random.below(LEFT_BYTES_MAX - LEFT_BYTES_MIN));
      await submitUntilRefused(signedIn(service, user.cookie), submissions);
      if (isKilled) await service.end("SIGKILL");
      await disk.free();
      const freedMs = performance.now();
      if (isKilled) service = await start();
      service = await untilAccepted(service, user.cookie, submissions, async () => {
        ended++;
        await service.end("SIGKILL");
        return await start();
      });
      recoveryMs = Math.max(recoveryMs, Math.round(performance.now() - freedMs));
      await checkAcknowledged(signedIn(service, user.cookie), submissions, new Map());
    }
    expect(recoveryMs).toBeLessThan(RECOVERY_MS_MAX);
    await untilNoneIsLeft(signedIn(service, user.cookie));
    await checkResults(signedIn(service, user.cookie), submissions, clean);
    const { code } = await service.end("SIGTERM");
    expect(code).toBe(0);
    const repeated = await checkCopy(join(disk.outside, "data", "database"), submissions, clean.length);
    const { accepted: { size: accepted }, unanswered } = submissions;
    return {
      rounds,
      accepted,
      refused: unanswered,
      ended,
      repeated,
      recoveryMs,
      tookMs: Math.round(performance.now() - begun),
    };
  } finally {
    await service.end("SIGKILL");
    await disk.unmount();
  }
}

/** The database's thread may read no path under /proc, where the disk is. */
async function checkCopy(folder: string, submissions: Submissions, cleanCount: number): Promise<number> {
  const copy = await Deno.makeTempDir({ prefix: "hindcast-disk-" });
  try {
    copyFolder(folder, join(copy, "database"));
    return await checkDatabase(join(copy, "database"), submissions, cleanCount);
  } finally {
    await Deno.remove(copy, { recursive: true });
  }
}

/**
 * Starts an embedded service whose disk is full, and again when the disk has space.
 *
 * @param dataDir Begins with a copy of this ended service's directory.
 * @returns The error of the first start; the second succeeded.
 */
export async function startOnFullDisk(dataDir: string): Promise<string> {
  const disk = await SmallDisk.mount();
  const start = () => startProcess("serve", { DATA_DIR: join(disk.path, "data") }, disk.within);
  try {
    copyFolder(dataDir, join(disk.outside, "data"));
    await disk.fill(0);
    const said = await start().then(() => "nothing", String);
    await disk.free();
    await (await start()).end("SIGTERM");
    return said.replace(disk.path, "DISK");
  } finally {
    await disk.unmount();
  }
}

async function submitUntilRefused(client: ReturnType<typeof signedIn>, submissions: Submissions): Promise<void> {
  let refused = 0;
  for (let i = 0; i < SUBMITS_MAX && refused < REFUSALS; i++) {
    if (!await submissions.submit(client)) refused++;
    await pause(20);
  }
  expect(refused).toBe(REFUSALS);
}

/** Submits until a backtest is accepted; restarts a service that has ended. */
async function untilAccepted(
  service: RunningProcess,
  cookie: string,
  submissions: Submissions,
  restart: () => Promise<RunningProcess>,
): Promise<RunningProcess> {
  let running = service;
  const deadline = performance.now() + RECOVERY_MS_MAX;
  while (!await submissions.submit(signedIn(running, cookie))) {
    if (performance.now() > deadline) {
      throw new Error("The service accepts no backtest although its disk has space again");
    }
    if (running.hasEnded) running = await restart();
    await pause(100);
  }
  return running;
}

const NAMESPACE = ["--user", "--map-root-user", "--mount"];

/** True if this machine lets us mount a disk in a namespace: Linux does, unless a container forbids it. */
export async function canMount(): Promise<boolean> {
  const probe = new Deno.Command("unshare", {
    args: [...NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/tmp"],
    stdout: "null",
    stderr: "null",
  });
  return await probe.output().then(({ success }) => success, () => false);
}

/** A small disk in memory, in a namespace of its own, so that it needs no rights. */
export class SmallDisk {
  /** The disk's path for processes in the namespace. */
  readonly path: string;
  readonly #holder: Deno.ChildProcess;

  private constructor(path: string, holder: Deno.ChildProcess) {
    this.path = path;
    this.#holder = holder;
  }

  static async mount(): Promise<SmallDisk> {
    const path = await Deno.makeTempDir({ prefix: "hindcast-disk-" });
    const script = `mount -t tmpfs -o size=${DISK_BYTES} tmpfs "$0" && echo mounted && exec sleep infinity`;
    const holder = new Deno.Command("unshare", {
      args: [...NAMESPACE, "sh", "-euc", script, path],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const reader = holder.stdout.getReader();
    const { done } = await reader.read();
    await reader.cancel();
    if (done) throw new Error("Cannot mount a small disk here: unshare or mount refused");
    return new SmallDisk(path, holder);
  }

  /** The command that starts a process in the namespace. */
  get within(): readonly string[] {
    const root = new URL("../..", import.meta.url).pathname;
    return ["nsenter", `--target=${this.#holder.pid}`, "--user", "--mount", `--wd=${root}`, "--preserve-credentials"];
  }

  /** The disk's path for all other processes. */
  get outside(): string {
    return `/proc/${this.#holder.pid}/root${this.path}`;
  }

  /** Fills all but a number of bytes. */
  async fill(leftBytes: number): Promise<void> {
    const ballast = join(this.outside, "ballast");
    using file = await Deno.open(ballast, { create: true, write: true });
    const block = new Uint8Array(65_536);
    try {
      for (;;) file.writeSync(block);
    } catch (error) {
      // The disk is full.
      if (!(error instanceof Error)) throw error;
    }
    const { size } = await file.stat();
    await file.truncate(Math.max(0, size - leftBytes));
  }

  async free(): Promise<void> {
    await Deno.remove(join(this.outside, "ballast"));
  }

  async unmount(): Promise<void> {
    this.#holder.kill("SIGKILL");
    await this.#holder.status;
    await Deno.remove(this.path, { recursive: true });
  }
}
