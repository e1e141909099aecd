import { expect } from "@std/expect";
import { readModule } from "../../../db/modules.ts";
import { keepModule } from "../../../routers/strategies/resolve_strategy.ts";
import { databaseTest } from "../../support/database.ts";

const RUNTIME = { type: "wasm", sha256: "a", minCandles: 1, lookbackCandles: 0 } as const;

databaseTest(
  "a module that came with a backtest is stored, and one whose strategy is gone is no strategy",
  async ({ db }) => {
    const strategy = { name: "Cross", runtime: RUNTIME, module: null };
    await expect(keepModule(db, strategy)).rejects.toMatchObject({
      message:
        'Cannot find the strategy: /backtest/strategy must be a strategy that is not deleted meanwhile, not "Cross"',
      issues: [{ path: "/backtest/strategy" }],
    });
    const data = Uint8Array.of(1);
    await keepModule(db, { ...strategy, module: { sha256: "a", data } });
    expect(await readModule(db, "a")).toEqual(data);
    await keepModule(db, strategy);
    await keepModule(db, { ...strategy, runtime: null });
  },
);
