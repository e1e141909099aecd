import { expect } from "@std/expect";
import { runScenario } from "./faults/scenario.ts";
import { createTestDatabase } from "./support/database.ts";

Deno.test("two API and three worker processes lose and double nothing while workers are killed", async () => {
  const { url, drop } = await createTestDatabase("service");
  const outcome = await runScenario({
    databaseUrl: url,
    seed: 1,
    faults: ["worker killed"],
    faultsMax: 2,
    backtests: 30,
  });
  // Whether a kill hits a worker in the middle of a run is chance; worker_death_test.ts holds the case in which it does.
  expect(outcome).toMatchObject({ accepted: 30, unanswered: 0, faults: 2 });
  await drop();
});
