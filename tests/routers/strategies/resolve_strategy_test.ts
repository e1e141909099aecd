import { expect } from "@std/expect";
import { readModule } from "../../../db/modules.ts";
import { admitModule } from "../../../routers/strategies/resolve_strategy.ts";
import { addUser } from "../../support/backtests.ts";
import { strangerContext } from "../../support/context.ts";
import { databaseTest } from "../../support/database.ts";

const RUNTIME = { type: "wasm", sha256: "a", minCandles: 1, lookbackCandles: 0 } as const;

databaseTest(
  "a module that came with a backtest is stored, and one whose strategy is gone is no strategy",
  async ({ db }) => {
    const strategy = { name: "Cross", runtime: RUNTIME, module: null };
    await addUser(db, "ann");
    const admit = (given: Parameters<typeof admitModule>[3]) =>
      admitModule(db, "ann", strangerContext(db).quotas, given);
    await expect(admit(strategy)).rejects.toMatchObject({
      message:
        'Cannot find the strategy: /backtest/strategy must be a strategy that is not deleted meanwhile, not "Cross"',
      issues: [{ path: "/backtest/strategy" }],
    });
    const data = Uint8Array.of(1);
    await admit({ ...strategy, module: { sha256: "a", data } });
    expect(await readModule(db, "a")).toEqual(data);
    await admit(strategy);
    await admit({ ...strategy, runtime: null });
  },
);
