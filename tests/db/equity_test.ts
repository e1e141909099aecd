import { expect } from "@std/expect";
import { insertBacktest } from "../../db/backtests.ts";
import { readEquity } from "../../db/equity.ts";
import { addCompleted, addUser, newBacktest } from "../support/backtests.ts";
import { eachDatabaseSteps } from "../support/database.ts";

eachDatabaseSteps("equity", async ({ db }, step) => {
  await addUser(db, "ann");

  await step("comes back to the last bit, to its owner alone", async () => {
    const columns = {
      time: Float64Array.of(1_704_067_200_000, 1_704_067_260_000),
      equity: Float64Array.of(0.1 + 0.2, 1e12),
      position: Float64Array.of(0, -1e-8),
    };
    const queued = await insertBacktest(db, newBacktest("ann"));
    expect(await readEquity(db, { backtestId: queued.id, ownerId: "ann" })).toBeNull();
    const id = await addCompleted(db, { equity: columns });
    expect(await readEquity(db, { backtestId: id, ownerId: "ann" })).toEqual(columns);
    expect(await readEquity(db, { backtestId: id, ownerId: "bob" })).toBeNull();
  });

  await step("comes back whole across the chunks that hold it", async () => {
    const time = Float64Array.from({ length: 25_000 }, (_, i) => i * 60_000);
    const columns = { time, equity: time.map((ms) => 1e4 + ms / 7), position: time.map((ms) => ms % 3) };
    const id = await addCompleted(db, { equity: columns });
    expect(await readEquity(db, { backtestId: id, ownerId: "ann" })).toEqual(columns);
  });
});
