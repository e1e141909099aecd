/** The scenarios of `deno task faults` at a size that takes seconds; cluster_test.ts holds the one of killed processes, main_test.ts
 * and jobs_test.ts a killed embedded service. */
import { expect } from "@std/expect";
import { createTestDatabase } from "../support/database.ts";
import { prepare } from "../support/prepare.ts";
import { canMount, runDisk, startOnFullDisk } from "./disk.ts";
import { runFaults } from "./faults.ts";
import { onPostgres } from "./ground.ts";
import { runSubmits } from "./submits.ts";
import { runZombies } from "./zombie.ts";

Deno.test("an API process that is killed in the middle of a submission leaves all of it or nothing", async () => {
  const { url: databaseUrl, drop } = await createTestDatabase("service");
  expect(await runSubmits({ databaseUrl }, { seed: 1, kills: 2 })).toMatchObject({ kills: 2 });
  await drop();
});

Deno.test("a worker that sleeps while others take its runs over changes nothing when it wakes", async () => {
  const { url: databaseUrl, drop } = await createTestDatabase("service");
  expect(await runZombies({ databaseUrl }, { seed: 1, rounds: 1 })).toMatchObject({ rounds: 1 });
  await drop();
});

Deno.test("a PostgreSQL that crashes, and ends its connections, costs no accepted backtest and doubles none", async () => {
  const faults = ["database crashed", "connections terminated"] as const;
  expect(await onPostgres((ground) => runFaults(ground, { seed: 1, faults, backtests: 10 }))).toMatchObject({
    faults: 2,
  });
});

Deno.test("connections that end before a transaction begins on them cost no accepted backtest", async () => {
  const { url: databaseUrl, drop } = await createTestDatabase("service");
  const faults = Array.from({ length: 3 }, () => "connections terminated unnoticed" as const);
  expect(await runFaults({ databaseUrl }, { seed: 1, faults, backtests: 9 })).toMatchObject({ faults: 3 });
  await drop();
});

// A disk of its own needs a system that lets anybody have one.
const ignore = !await canMount();

Deno.test({
  name: "an embedded service whose disk is full refuses what it cannot keep, and goes on when there is room",
  ignore,
  fn: async () => {
    const dataDir = await prepare("folder/service");
    expect(await runDisk({ seed: 1, rounds: 1, dataDir })).toMatchObject({ rounds: 1 });
  },
});

Deno.test({
  name: "an embedded service that cannot open its database for want of room says so in one line, and damages nothing",
  ignore,
  fn: async () => {
    expect(await startOnFullDisk(await prepare("folder/service"))).toBe(
      "Error: serve ended: Cannot start: the embedded database cannot be opened: the disk of DISK/data has 0 MiB left\n",
    );
  },
});
