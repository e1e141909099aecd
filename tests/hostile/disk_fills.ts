/** POSTs as the disk of the embedded database fills from one moment to the next, between two looks at its space: `deno task hostile`. */
import { expect } from "@std/expect";
import { join } from "node:path";
import { canMount, SmallDisk } from "../faults/disk.ts";
import { pause } from "../faults/invariants.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { copyFolder } from "../support/copy_folder.ts";
import { prepare } from "../support/prepare.ts";
import { startProcess } from "../support/process.ts";
import { until } from "../support/until.ts";

const ROUNDS = 3;
const CLIENTS = 8;
const FULL_MS = 2_000;
const DISK_REASON = "the database is read-only: its disk is nearly full, or it is a replica";

if (!await canMount()) throw new Error("Cannot mount a small disk here: run this on Linux, where unshare may mount");

Deno.test("a POST as the disk fills is 202 or 503, and what was accepted is there", async () => {
  const disk = await SmallDisk.mount();
  copyFolder(await prepare("folder/service"), join(disk.outside, "data"));
  const service = await startProcess("serve", {
    DATA_DIR: join(disk.path, "data"),
    WORKERS: "0",
    USER_BACKTESTS_MAX: "1000000",
    LOG_LEVEL: "error",
  }, disk.within);
  const user = service.client();
  await user.signUp();
  const accepted = new Set<string>();
  const statuses = new Map<number, number>();
  const submit = async (client: TestClient) => {
    const answer = await client.send("POST", "/api/backtests", { backtest: BACKTEST });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (answer.status === 202) accepted.add(String(answer.at("/backtest/id")));
    return answer.status;
  };
  for (let round = 0; round < ROUNDS; round++) {
    const full = new AbortController();
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!full.signal.aborted) await submit(user);
    });
    await pause(300 + 100 * round);
    await takeAll(disk);
    await pause(FULL_MS);
    await until(async () => (await reasonsOf(user)).includes(DISK_REASON));
    full.abort();
    await Promise.all(clients);
    await disk.free();
    await until(async () => await submit(user) === 202);
    await until(async () => !(await reasonsOf(user)).includes(DISK_REASON));
  }
  expect([...statuses.keys()].toSorted()).toEqual([202, 503]);
  const kept = new Set(
    (await user.get("/api/backtests?view=summary")).list("/backtests").map((each) => Object(each).id),
  );
  expect([...accepted].filter((id) => !kept.has(id))).toEqual([]);
  await service.end("SIGKILL");
  await disk.unmount();
});

/** Why the service is not ready. Without workers, it also misses one after a minute. */
async function reasonsOf(client: TestClient): Promise<readonly unknown[]> {
  const answer = await client.get("/api/health/ready");
  return answer.status === 200 ? [] : answer.list("/reasons");
}

/** Takes all of a disk's space at once. The service writes meanwhile, so that what was just free may not be any more. */
async function takeAll({ within: [program = "", ...args], path }: SmallDisk): Promise<void> {
  const take = `fallocate --length "$(df --output=avail --block-size=1 "$0" | tail -n 1)" "$0/ballast"`;
  const script = `for try in $(seq 100); do ${take} && exit; done; exit 1`;
  const { success } = await new Deno.Command(program, { args: [...args, "sh", "-c", script, path], stderr: "null" })
    .output();
  if (!success) throw new Error("Cannot take the disk's space: it changes too quickly");
}
