/** The scenarios of `deno task faults` at a size that takes seconds; cluster_test.ts holds the one of killed processes, main_test.ts
 * a killed embedded service. */
import { expect } from "@std/expect";
import { createTestDatabase } from "../support/database.ts";
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
