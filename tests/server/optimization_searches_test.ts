import { expect } from "@std/expect";
import { BACKTEST } from "../support/client.ts";
import { finishOptimization, OPTIMIZATION, submitOptimization } from "../support/optimizations.ts";
import { startTestService } from "../support/service.ts";

// Larger than a submission looks through, with ten constraints of which the last one never holds.
const WIDE = { fast: { min: 1, max: 10_000, step: 1 }, slow: { min: 2, max: 10_000, step: 1 } };
const NEVER = [...Array(9).fill(`fast > 0${" - 1".repeat(17)}`), `fast + slow > 30000${" + 1".repeat(15)}`];
const CARRIED = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`x-${i}`, i]));
const SEARCH = {
  space: WIDE,
  constraints: NEVER,
  method: "random",
  trials_max: 200_000,
  parameters: { ...OPTIMIZATION.parameters, ...CARRIED },
};

for (const kind of ["PGlite", "PostgreSQL"] as const) {
  Deno.test(`searches for points hold up nobody else and end with their optimizations (${kind})`, async (t) => {
    const service = await startTestService(kind, { WORKERS: "1", USER_OPTIMIZATIONS_MAX: "4" });
    const [greedy, other] = [await service.user(), await service.user()];
    const search = (seed: number) => submitOptimization(greedy, { ...SEARCH, seed });

    await t.step("more draws than a worker makes are refused with the limit", async () => {
      const wanted = { ...OPTIMIZATION, ...SEARCH, trials_max: 300_000 };
      const answer = await greedy.send("POST", "/api/optimizations", { optimization: wanted });
      expect([answer.status, answer.at("/error/issues/0/path")]).toEqual([400, "/optimization/trials_max"]);
      expect(answer.at("/error/issues/0/message")).toMatch(/^must be at most 2\d{5} with constraints of 1\d\d names/);
    });

    await t.step("another user's backtest and grid end meanwhile", async () => {
      await Promise.all([1, 2, 3, 4].map(search));
      const submitted = await other.send("POST", "/api/backtests", { backtest: BACKTEST });
      const backtest = await other.finish(submitted.at("/backtest/id"));
      expect(backtest.at("/backtest/status")).toBe("completed");
      const grid = await finishOptimization(other, await submitOptimization(other));
      expect(grid.at("/optimization/status")).toBe("completed");
    });

    await t.step("a search that finds nothing says how many points it drew", async () => {
      for (const { id } of (await greedy.get("/api/optimizations")).list("/optimizations").map(Object)) {
        const ended = await finishOptimization(greedy, id);
        expect(ended.at("/optimization/error")).toMatchObject({
          code: "NO_TRIALS",
          message: expect.stringMatching(/each of 2\d{5} points that were drawn, of 99990000, breaks a constraint/),
        });
      }
    });

    await t.step("the next one begins as soon as a search is deleted", async () => {
      const ids = await Promise.all([5, 6, 7, 8].map(search));
      for (const id of ids) expect((await greedy.send("DELETE", `/api/optimizations/${id}`)).status).toBe(204);
      const grid = await finishOptimization(other, await submitOptimization(other));
      expect(grid.at("/optimization/status")).toBe("completed");
    });

    await service.close();
  });
}
