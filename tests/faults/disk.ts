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
// Less than what makes the database read only, more than what a moment writes.
const LEFT_BYTES_MIN = 2 ** 25;
const LEFT_BYTES_MAX = 2 ** 26;
const REFUSALS = 5;
const SUBMITS_MAX = 100;
const RECOVERY_MS_MAX = 30_000;

/**
 * Fills the disk under the embedded database while backtests are submitted, makes room again, and checks that the service, by itself
 * or after a SIGKILL in the middle, goes on with all that it had acknowledged.
 *
 * @param dataDir Of an embedded service that has ended, to begin with a copy of; default: a first start.
 * @throws When something was lost, doubled or different, or it does not go on within thirty seconds.
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
    const repeated = await checkDatabase(join(disk.outside, "data", "database"), submissions, clean.length);
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

/**
 * Starts a service on the embedded database whose disk is full, and again when there is room.
 *
 * @param dataDir Of an embedded service that has ended, to begin with a copy of.
 * @returns What the first start said; the second went well.
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

/** Submits until one is accepted; a service that has ended is started again. */
async function untilAccepted(
  service: RunningProcess,
  cookie: string,
  submissions: Submissions,
  restart: () => Promise<RunningProcess>,
): Promise<RunningProcess> {
  let running = service;
  const deadline = performance.now() + RECOVERY_MS_MAX;
  while (!await submissions.submit(signedIn(running, cookie))) {
    if (performance.now() > deadline) throw new Error("The service does not go on though there is room again");
    if (running.hasEnded) running = await restart();
    await pause(100);
  }
  return running;
}

const NAMESPACE = ["--user", "--map-root-user", "--mount"];

/** Whether a disk can be mounted here that only who mounts it sees: on Linux, where containers do not forbid it. */
export async function canMount(): Promise<boolean> {
  const probe = new Deno.Command("unshare", {
    args: [...NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/tmp"],
    stdout: "null",
    stderr: "null",
  });
  return await probe.output().then(({ success }) => success, () => false);
}

/** A disk of its own for one process, in memory; it needs no rights, since it is seen in a namespace of its own alone. */
class SmallDisk {
  /** Where it is for processes within. */
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

  /** What starts a process within. */
  get within(): readonly string[] {
    const root = new URL("../..", import.meta.url).pathname;
    return ["nsenter", `--target=${this.#holder.pid}`, "--user", "--mount", `--wd=${root}`, "--preserve-credentials"];
  }

  /** Where it is for everybody else. */
  get outside(): string {
    return `/proc/${this.#holder.pid}/root${this.path}`;
  }

  /** Takes all but so many bytes. */
  async fill(leftBytes: number): Promise<void> {
    const ballast = join(this.outside, "ballast");
    using file = await Deno.open(ballast, { create: true, write: true });
    const block = new Uint8Array(65_536);
    try {
      for (;;) file.writeSync(block);
    } catch (error) {
      // There is no room left.
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
