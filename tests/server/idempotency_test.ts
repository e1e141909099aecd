import { expect } from "@std/expect";
import { type Answer, BACKTEST, type TestClient } from "../support/client.ts";
import { administer } from "../support/database.ts";
import { startTestService } from "../support/service.ts";

const submit = (client: TestClient, key: string, change: object = {}): Promise<Answer> =>
  client.send("POST", "/api/backtests", { backtest: { ...BACKTEST, ...change } }, { "idempotency-key": key });
const idOf = (answer: Answer) => [answer.status, answer.at("/backtest/id")];
const countOf = async (client: TestClient) => (await client.get("/api/backtests?limit=200")).list("/backtests").length;

Deno.test("a submission that is sent again with its Idempotency-Key makes one backtest", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0", USER_BACKTESTS_MAX: "3" });
  const [ann, bob] = [await service.user(), await service.user()];
  const first = await submit(ann, "one");
  expect(first.status).toBe(202);

  await t.step("the same key and body are answered with the first record", async () => {
    const again = await submit(ann, "one");
    expect(idOf(again)).toEqual(idOf(first));
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    await ann.send("POST", `/api/backtests/${first.at("/backtest/id")}/cancel`);
    // As it is now.
    expect((await submit(ann, "one")).at("/backtest/status")).toBe("cancelled");
    expect(await countOf(ann)).toBe(1);
  });

  await t.step("another body under the same key is a conflict, another key is another backtest", async () => {
    const other = await submit(ann, "one", { initial_balance: 2000 });
    expect([other.status, other.at("/error/code")]).toEqual([409, "IDEMPOTENCY_CONFLICT"]);
    const second = await submit(ann, "two");
    expect(second.status).toBe(202);
    expect(idOf(second)).not.toEqual(idOf(first));
  });

  await t.step("keys are each user's own", async () => {
    const other = await submit(bob, "one", { initial_balance: 2000 });
    expect(other.status).toBe(202);
    expect(idOf(other)).not.toEqual(idOf(first));
  });

  await t.step(
    "at the same time, and where the quota is used up by the first of them, all get one answer",
    async () => {
      // One is waiting already, and three may.
      expect((await submit(ann, "fills")).status).toBe(202);
      const answers = await Promise.all(Array.from({ length: 10 }, () => submit(ann, "at once")));
      expect(new Set(answers.map((answer) => String(idOf(answer)))).size).toBe(1);
      expect(answers[0]?.status).toBe(202);
      expect((await submit(ann, "one too many")).status).toBe(429);
      // A refusal leaves its key free.
      await ann.send("POST", `/api/backtests/${answers[0]?.at("/backtest/id")}/cancel`);
      expect((await submit(ann, "one too many")).status).toBe(202);
    },
  );

  await t.step("tRPC takes the header too", async () => {
    const headers = { "idempotency-key": "one" };
    const again = await ann.send("POST", "/trpc/backtests.create", { backtest: BACKTEST }, headers);
    expect(again.at("/result/data/backtest/id")).toBe(first.at("/backtest/id"));
  });

  await t.step("after a day the key is free, and with its record it is gone", async () => {
    await administer(
      service.databaseUrl,
      "update backtests set created_at = now() - interval '25 hours' where idempotency_key = 'one'",
    );
    const list = (await ann.get("/api/backtests?status=queued")).list("/backtests");
    for (const entry of list) await ann.send("DELETE", `/api/backtests/${Object(entry).id}`);
    const later = await submit(ann, "one");
    expect(later.status).toBe(202);
    expect(idOf(later)).not.toEqual(idOf(first));
    expect((await submit(ann, "two", { initial_balance: 5 })).status).toBe(202);
  });

  await t.step("a key that is none is refused", async () => {
    for (const key of ["", "x".repeat(256)]) {
      const refused = await submit(ann, key);
      expect([refused.status, refused.at("/error/code")]).toEqual([400, "VALIDATION_FAILED"]);
    }
  });
  await service.close();
});
