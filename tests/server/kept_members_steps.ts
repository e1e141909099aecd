import { expect } from "@std/expect";
import type { TestService } from "../support/service.ts";

/**
 * Deletes a universe before a worker has begun its run, and makes another of the same name.
 *
 * @param request A backtest on the exchange LAB, which has AAA, BBB and CCC.
 */
export async function keepMembers(service: TestService, request: object): Promise<void> {
  const user = await service.user();
  const universe = (...symbols: readonly string[]) => ({
    universe: { slug: "short-lived", members: symbols.map((symbol) => ({ symbol, exchange: "LAB" })) },
  });
  await user.send("POST", "/api/universes", universe("AAA", "BBB"));
  const submit = async () => {
    const backtest = { ...request, strategy: "Equal Weight", parameters: { universe: "short-lived" } };
    const made = await user.send("POST", "/api/backtests", { backtest });
    expect(made.status).toBe(202);
    return String(made.at("/backtest/id"));
  };
  // The one worker is busy with the first ones.
  const ids = [await submit(), await submit(), await submit()];
  expect((await user.send("DELETE", "/api/universes/short-lived")).status).toBe(204);
  expect((await user.send("POST", "/api/universes", universe("CCC"))).status).toBe(201);
  for (const id of ids) {
    const record = Object((await user.get(`/api/backtests/${id}?wait=30`)).at("/backtest"));
    expect([record.status, record.error]).toEqual(["completed", null]);
    expect(record.reused_from).toBe(id === ids[0] ? null : ids[0]);
    expect(record.result.portfolio.contributions.map(({ instrument }: { instrument: string }) => instrument))
      .toEqual(["AAA@LAB", "BBB@LAB"]);
  }
  const verified = await user.send("POST", `/api/backtests/${ids[0]}/verify`);
  expect(verified.status).toBe(202);
  const again = Object((await user.get(`/api/backtests/${verified.at("/backtest/id")}?wait=30`)).at("/backtest"));
  expect(again.parameters.universe).toBeUndefined();
  const differences = await user.get(`/api/backtests/${again.id}/differences?other=${ids[0]}`);
  expect([differences.at("/equal"), differences.at("/same_data")]).toEqual([true, true]);
}
