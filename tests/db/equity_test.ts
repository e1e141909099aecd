import { expect } from "@std/expect";
import { insertBacktest } from "../../db/backtests.ts";
import { encodeCurve, insertEquity, readEquity } from "../../db/equity.ts";
import { addUser, newBacktest } from "../support/backtests.ts";
import { eachDatabaseSteps } from "../support/database.ts";

eachDatabaseSteps("equity", async ({ db }, step) => {
  await addUser(db, "ann");

  await step("comes back to the last bit, to its owner alone", async () => {
    const { id } = await insertBacktest(db, newBacktest("ann"));
    const columns = {
      time: Float64Array.of(1_704_067_200_000, 1_704_067_260_000),
      equity: Float64Array.of(0.1 + 0.2, 1e12),
      position: Float64Array.of(0, -1e-8),
    };
    expect(await readEquity(db, { backtestId: id, ownerId: "ann" })).toBeNull();
    await insertEquity(db, [{ backtestId: id, curve: encodeCurve(columns) }]);
    expect(await readEquity(db, { backtestId: id, ownerId: "ann" })).toEqual(columns);
    expect(await readEquity(db, { backtestId: id, ownerId: "bob" })).toBeNull();
  });
});
