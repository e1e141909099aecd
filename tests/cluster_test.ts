import { expect } from "@std/expect";
import { runFaults } from "./faults/faults.ts";
import { createTestDatabase } from "./support/database.ts";

Deno.test("two API and three worker processes lose and double nothing while they are killed and cut off", async () => {
  const { url: databaseUrl, drop } = await createTestDatabase("service");
  const faults = ["worker killed", "connections terminated", "api killed"] as const;
  const outcome = await runFaults({ databaseUrl }, { seed: 1, faults, backtests: 24 });
  // A fault hits by chance; worker_death_test.ts holds the case in which it hits a run.
  expect(outcome).toMatchObject({ faults: 3 });
  await drop();
});
