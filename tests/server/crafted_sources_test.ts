/** Sources of the largest size that are made to be slow to read, over HTTP: each check and run ends by itself, with its verdict. */
import { expect } from "@std/expect";
import { SOURCE_BYTES_MAX } from "../../workers/sandbox/contracts/layout.ts";
import type { TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { RANGE, registration } from "./foreign_code.ts";

/** A source of the largest size. @param make Its text around a filling, which is a repeated part. */
function largest(part: string, make: (filling: string) => string): string {
  const filling = part.repeat(Math.floor((SOURCE_BYTES_MAX - make("").length) / part.length));
  return make(filling).padEnd(SOURCE_BYTES_MAX);
}

const decide = "decide(i, { close }, account, orders) { if (close[i] > fast) orders.buy(); }";
const ACCEPTED: Readonly<Record<string, string>> = {
  "brackets with sums in a comment": largest(
    "[+",
    (filling) => `strategy(({ fast = 3 }) => ({ ${decide} })); // ${filling}`,
  ),
  "a default value of many lists": largest(
    "[],",
    (filling) => `strategy(({ fast = 3, lists = [${filling}] }) => ({ ${decide} }));`,
  ),
  "a parameter that is read many times": largest(
    "p.fast;",
    (filling) => `strategy((p) => { ${filling} var fast = p.fast; return { ${decide} }; });`,
  ),
  "a parameter that is taken apart many times": largest(
    "var {fast}=p;",
    (filling) => `strategy((p) => { ${filling} return { ${decide} }; });`,
  ),
};

Deno.test("a source that is slow to read is checked, and run, in the time of any other", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  await t.step("a member that is read before a long blank", () => refused(user));
  for (const [n, [name, source]] of Object.entries(ACCEPTED).entries()) {
    await t.step(name, () => accepted(user, `crafted-${n}`, source));
  }
  await service.close();
});

/** The name is read, and no line sets it, however much there is behind it. */
async function refused(user: TestClient): Promise<void> {
  const source = largest(
    " ",
    (filling) =>
      `strategy(() => ({ isReady: false, decide() { if (this.isRedy${filling}> 1) this.isReady = true; } }));`,
  );
  const answer = await user.send("POST", "/api/strategies", {
    strategy: registration("blank", { type: "script", source }),
  });
  expect([answer.status, answer.at("/error/code"), answer.at("/error/message")]).toEqual([
    400,
    "INVALID_SCRIPT",
    expect.stringMatching(/this\.isRedy at decide \(strategy\.ts:1:\d+\) is not known: did you mean isReady\?$/),
  ]);
}

async function accepted(user: TestClient, slug: string, source: string): Promise<void> {
  const { parameter_schema: _schema, ...strategy } = registration(slug, { type: "script", source });
  const answer = await user.send("POST", "/api/strategies", { strategy });
  expect([answer.status, answer.at("/error")]).toEqual([201, undefined]);
  const names = Object.keys(Object(answer.at("/strategy/parameter_schema")).properties);
  expect(names).toContain("fast");
  const backtest = { ...RANGE, strategy: slug, parameters: { timeframe: "1h", fast: 5 } };
  const submitted = await user.send("POST", "/api/backtests", { backtest });
  expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
  const done = await user.finish(submitted.at("/backtest/id"));
  expect([done.at("/backtest/status"), done.at("/backtest/error")]).toEqual(["completed", null]);
}
