import { expect } from "@std/expect";
import { findStrategiesByName, findStrategy, insertStrategy, updateStrategy } from "../../db/strategies.ts";
import { addUser } from "../support/backtests.ts";
import { databaseTest, eachDatabaseTest } from "../support/database.ts";

databaseTest(
  "one's own strategy is found by its name, however many others have given theirs the same",
  async ({ db }) => {
    for (const id of ["ann", "bob"]) await addUser(db, id);
    const register = async (ownerId: string, slug: string) => {
      const texts = { name: "Cross", slug, description: "", language: "c", defaultFrequency: "DAILY" };
      const strategy = { ...texts, runtimeType: "remote", minCandles: 1, lookbackCandles: 0, isPublic: true } as const;
      const version = { version: "1", runtimeConfig: {} };
      await insertStrategy(db, { ...strategy, ownerId, defaultConfig: {}, parameterSchema: {} }, version);
    };
    for (let i = 0; i < 250; i++) await register("bob", `cross-${i}`);
    await register("ann", "mine");
    const found = await findStrategiesByName(db, { name: "Cross", userId: "ann" });
    expect(found.filter(({ strategy }) => strategy.ownerId === "ann").map(({ strategy }) => strategy.slug)).toEqual([
      "mine",
    ]);
  },
);

eachDatabaseTest(
  "a strategy's schema and defaults are read back in the order in which they were written",
  async ({ db }) => {
    await addUser(db, "ann");
    const parameterSchema = { type: "object", properties: { slow: { minimum: 1, default: 9 }, fast: {}, a: {} } };
    const texts = { name: "Cross", slug: "mine", description: "", language: "c", defaultFrequency: "DAILY" };
    const strategy = { ...texts, runtimeType: "remote", minCandles: 1, lookbackCandles: 0, isPublic: true } as const;
    const values = { ...strategy, ownerId: "ann", defaultConfig: { slow: 2, fast: 1, a: 3 }, parameterSchema };
    await insertStrategy(db, values, { version: "1", runtimeConfig: {} });
    const read = async () => {
      const { strategy } = (await findStrategy(db, { slug: "mine", userId: "ann" }))!;
      return [JSON.stringify(strategy.parameterSchema), JSON.stringify(strategy.defaultConfig)];
    };
    const [schema, config] = await read();
    expect([schema, config]).toEqual([JSON.stringify(parameterSchema), '{"slow":2,"fast":1,"a":3}']);
    await updateStrategy(db, { slug: "mine", ownerId: "ann" }, { defaultConfig: { timeframe: "1h", b: 1, a: 2 } });
    expect(await read()).toEqual([schema, '{"timeframe":"1h","b":1,"a":2}']);
  },
);
