import { expect } from "@std/expect";
import { findStrategiesByName, insertStrategy } from "../../db/strategies.ts";
import { addUser } from "../support/backtests.ts";
import { databaseTest } from "../support/database.ts";

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
