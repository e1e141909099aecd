import { expect } from "@std/expect";
import { administer } from "../support/database.ts";
import { BACKTEST } from "../support/client.ts";
import { runTaskCommand } from "../support/process.ts";
import { startTestService } from "../support/service.ts";

const PASSWORD = "correct horse battery";
const REMOTE = { type: "remote", language: "python", endpoint: "https://example.com/mine" };

Deno.test("a user exports all that an account has, and deletes it with everything in it", async (t) => {
  const service = await startTestService();
  const [user, other] = [await service.user(), await service.user()];
  const id = (await user.get("/api/session")).at("/user/id");
  const submitted = await user.send("POST", "/api/backtests", { backtest: BACKTEST });
  const backtestId = String(submitted.at("/backtest/id"));
  await user.finish(backtestId);
  const strategy = {
    slug: "my-signals",
    name: "Mine",
    runtime_type: "remote",
    language: "python",
    initial_version: { version: "1.0", runtime_config: REMOTE },
  };
  const registered = await user.send("POST", "/api/strategies", { strategy });
  expect([registered.status, registered.at("/error")]).toEqual([201, undefined]);
  const token = await user.send("POST", "/api/tokens", { token: { name: "export", scope: "read" } });
  const env = { HINDCAST_URL: service.url, HINDCAST_TOKEN: String(token.at("/secret")) };

  await t.step("the export has the runs with their tables, and the strategies with their versions", async () => {
    const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
    const exported = () => runTaskCommand("hindcast", ["export-account", folder, "--json"], env);
    const { code, stderr, stdout } = await exported();
    expect([code, stderr]).toEqual([0, ""]);
    const files = filesIn(folder);
    expect(files).toEqual([
      "account.json",
      ...["backtest.json", "equity.csv", "log.txt", "orders.csv", "trades.csv"].map((name) =>
        `backtests/${backtestId}/${name}`
      ),
      "backtests.json",
      "monte-carlo.json",
      "optimizations.json",
      "shares.json",
      "strategies/my-signals/strategy.json",
      "strategies/my-signals/versions.json",
      "strategies.json",
      "stress-tests.json",
      "universes.json",
    ].toSorted());
    expect(JSON.parse(stdout)).toEqual({ folder, files: files.length });
    const trades = (await user.get(`/api/backtests/${backtestId}/trades?format=csv`)).text;
    expect(await Deno.readTextFile(`${folder}/backtests/${backtestId}/trades.csv`)).toBe(trades);
    expect(await Deno.readTextFile(`${folder}/strategies/my-signals/versions.json`)).toContain(REMOTE.endpoint);
    // An interrupted export goes on where it was.
    await Deno.remove(`${folder}/backtests/${backtestId}/trades.csv`);
    expect((await exported()).code).toBe(0);
    expect(filesIn(folder)).toEqual(files);
    await Deno.remove(folder, { recursive: true });
  });

  await t.step("the password decides, not the session alone", async () => {
    const without = await user.send("POST", "/api/auth/delete-user", {});
    expect([without.status, without.at("/error/issues/0/path")]).toEqual([400, "/password"]);
    const wrong = await user.send("POST", "/api/auth/delete-user", { password: "wrong horse battery" });
    expect(wrong.status).toBe(400);
    expect((await service.client().send("POST", "/api/auth/delete-user", { password: PASSWORD })).status).toBe(401);
    expect((await user.get("/api/session")).status).toBe(200);
  });

  await t.step("nothing of the account is left, and others keep theirs", async () => {
    expect((await user.send("POST", "/api/auth/delete-user", { password: PASSWORD })).status).toBe(200);
    expect((await user.get("/api/session")).status).toBe(401);
    const byToken = { authorization: `Bearer ${env.HINDCAST_TOKEN}` };
    expect((await service.client().get("/api/session", byToken)).status).toBe(401);
    // Slugs stay reserved: others' backtests of a public strategy may name them.
    const columns = await administer(
      service.databaseUrl,
      `select table_name, column_name from information_schema.columns
        where table_schema = 'public' and column_name in ('user_id', 'owner_id') and table_name <> 'slugs'`,
    );
    expect(columns.length).toBeGreaterThan(8);
    const left: unknown[] = [];
    for (const row of columns) {
      const { table_name: table, column_name: column } = Object(row);
      left.push(
        ...await administer(service.databaseUrl, `select '${table}' from "${table}" where ${column} = '${id}'`),
      );
    }
    expect(left).toEqual([]);
    expect((await other.get("/api/session")).status).toBe(200);
  });
  await service.close();
});

Deno.test("admins act as others only where the operator allows it", async () => {
  const statuses = [];
  for (const environment of [{}, { IMPERSONATION: "on" }]) {
    const service = await startTestService("PostgreSQL", { WORKERS: "0", ...environment });
    const [admin, user] = [await service.user(), await service.user()];
    const userId = (await user.get("/api/session")).at("/user/id");
    const adminId = (await admin.get("/api/session")).at("/user/id");
    await administer(service.databaseUrl, `update "user" set role = 'admin' where id = '${adminId}'`);
    statuses.push((await admin.send("POST", "/api/auth/admin/impersonate-user", { userId })).status);
    await service.close();
  }
  expect(statuses).toEqual([403, 200]);
});

/** The files below a folder, by their paths in it. */
function filesIn(folder: string, prefix = ""): string[] {
  return [...Deno.readDirSync(`${folder}/${prefix}`)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesIn(folder, `${prefix}${name}/`) : [`${prefix}${name}`]
  ).toSorted();
}
