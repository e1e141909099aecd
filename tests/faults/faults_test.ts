/** Small sizes of the scenarios of `deno task faults`; main_test.ts and jobs_test.ts embedded services. */
import { expect } from "@std/expect";
import { createTestDatabase } from "../support/database.ts";
import { prepare } from "../support/prepare.ts";
import { runChunks, runEmbeddedChunks } from "./chunks.ts";
import { canMount, runDisk, startOnFullDisk } from "./disk.ts";
import { runFaults } from "./faults.ts";
import { onPostgres } from "./ground.ts";
import { runSubmits } from "./submits.ts";
import { runZombies } from "./zombie.ts";

Deno.test("an API process that is killed during a submission leaves all of it or nothing", async () => {
  const { url: databaseUrl, drop } = await createTestDatabase("service");
  expect(await runSubmits({ databaseUrl }, { seed: 1, kills: 2 })).toMatchObject({ kills: 2 });
  await drop();
});

Deno.test("a stopped worker whose runs others have taken over changes nothing when it continues", async () => {
  const { url: databaseUrl, drop } = await createTestDatabase("service");
  expect(await runZombies({ databaseUrl }, { seed: 1, rounds: 1 })).toMatchObject({ rounds: 1 });
  await drop();
});

// One cluster for all faults: its five processes take longer to start than most faults take.
Deno.test("two API and three worker processes lose and double nothing when they are killed, cut off at any moment, and PostgreSQL crashes", async () => {
  const faults = [
    "worker killed",
    "connections terminated",
    "api killed",
    // Connections end before a transaction begins on them.
    ...Array.from({ length: 3 }, () => "connections terminated unnoticed" as const),
    "database crashed",
    "connections terminated",
  ] as const;
  // `deno task faults` holds the thirty seconds; a busy machine takes longer to start the processes again.
  const recoveryMsMax = 300_000;
  const outcome = await onPostgres((ground) => runFaults(ground, { seed: 1, faults, backtests: 43, recoveryMsMax }));
  // A fault hits by chance; worker_death_test.ts holds the case in which it hits a run.
  expect(outcome).toMatchObject({ faults: 8 });
});

Deno.test("a worker that is killed between the chunks of a result leaves nothing of it", async () => {
  const { url: databaseUrl, drop } = await createTestDatabase("service");
  expect(await runChunks({ databaseUrl }, { seed: 1, kills: 1 })).toMatchObject({ kills: 1, repeated: 1 });
  await drop();
});

Deno.test({
  name: "an embedded service that is killed between the chunks of a result leaves nothing of it",
  // The scenario reads /proc.
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const dataDir = await prepare("folder/service");
    expect(await runEmbeddedChunks({ seed: 1, kills: 1, dataDir })).toMatchObject({ kills: 1, repeated: 1 });
  },
});

// These tests mount a disk, which not every machine allows.
const ignore = !await canMount();

Deno.test({
  name: "an embedded service with a full disk refuses submissions, and accepts them when the disk has space",
  ignore,
  fn: async () => {
    const dataDir = await prepare("folder/service");
    expect(await runDisk({ seed: 1, rounds: 1, dataDir })).toMatchObject({ rounds: 1 });
  },
});

Deno.test({
  name: "an embedded service that starts on a full disk fails with one line, and damages nothing",
  ignore,
  fn: async () => {
    expect(await startOnFullDisk(await prepare("folder/service"))).toBe(
      "Error: serve ended: Cannot start: the embedded database cannot be opened: the disk of DISK/data has 0 MiB left\n",
    );
  },
});
