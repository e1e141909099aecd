import { expect } from "@std/expect";
import process from "node:process";
import type { SandboxRuntime } from "../../../db/schema.ts";
import { storeModule } from "../../../db/modules.ts";
import { readCode } from "../../../workers/backtest/strategy_code.ts";
import { openTestDatabase } from "../../support/database.ts";
import { compileWat, strategyWat } from "../sandbox/wasm/modules.ts";

Deno.test("the version of the time zones is part of a module's key if it imports zone_offset, and of no other's", async () => {
  const handle = await openTestDatabase("PostgreSQL");
  const { db } = handle;
  const identityOf = async (before: string) => {
    const data = compileWat(strategyWat({ before }));
    const sha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", data.slice())).toHex();
    await storeModule(db, { sha256, data });
    const runtime: SandboxRuntime = { type: "wasm", sha256, minCandles: 1, lookbackCandles: 1 };
    const { identity } = await readCode(db, runtime, {});
    expect(identity).toMatchObject({ sha256, minCandles: 1 });
    return Object.keys(Object(identity)).length === 2 ? null : Object(identity).tz;
  };
  expect(await identityOf("")).toBeNull();
  const zoned = '(import "env" "zone_offset" (func (param i32 f64) (result f64)))';
  expect(await identityOf(zoned)).toBe(process.versions.tz);
  await handle.close();
});
