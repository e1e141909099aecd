/** Candles and results whose bytes live in a bucket. */
import { expect } from "@std/expect";
import { openPostgres } from "../../db/client.ts";
import { sweepObjects } from "../../db/object_sweep.ts";
import { LostObject } from "../../db/objects/object_store.ts";
import { openObjectStore } from "../../db/open_object_store.ts";
import { objectStoreOf } from "../../db/postgres_session.ts";
import { readConfig } from "../../server/config.ts";
import { readBucket } from "../../server/object_settings.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { administer, createTestDatabase } from "../support/database.ts";
import { startObjectServer } from "../support/object_server.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const IMPORT = "/api/admin/ingestion/import?symbol=ACME&exchange=NYSE&assetClass=stock&timeframe=1h";
const ACME = { ...BACKTEST, symbol: "ACME", exchange: "NYSE" };
const PASSWORD = "correct horse battery";

/** Hours that rise and fall. */
function hours(count: number): string {
  const rows = Array.from({ length: count }, (_, i) => {
    const close = 100 + Math.round(20 * Math.sin(i / 9));
    return `${new Date(Date.UTC(2024, 0, 1, i)).toISOString()},${close},${close + 1},${close - 1},${close},10`;
  });
  return ["date,open,high,low,close,volume", ...rows].join("\n");
}

Deno.test("candles and results live in a bucket", async (t) => {
  const server = await startObjectServer();
  const database = await createTestDatabase("service");
  const open = (environment: Readonly<Record<string, string>>) =>
    startTestService("PostgreSQL", {
      DATABASE_URL: database.url,
      BETTER_AUTH_SECRET: "a secret of at least 32 characters",
      ...environment,
    });
  const run = async (client: TestClient, backtest: object) => {
    const answer = await client.send("POST", "/api/backtests", { backtest: { ...backtest, fresh: true } });
    expect([answer.status, answer.at("/error")]).toEqual([202, undefined]);
    const id = String(answer.at("/backtest/id"));
    return id;
  };
  const read = async (client: TestClient, id: string) => [
    (await client.get(`/api/backtests/${id}/trades?format=csv`)).text,
    (await client.get(`/api/backtests/${id}/equity?format=csv`)).text,
  ];
  const importHours = (client: TestClient, count: number) =>
    client.send("POST", IMPORT, hours(count), {
      "x-ingestion-admin-secret": INGESTION_SECRET,
      "content-type": "text/csv",
    });
  /** The keys that rows name. */
  const named = async () =>
    (await administer(
      database.url,
      `select object from candle_chunks where object is not null
        union select object from result_chunks where object is not null
        union select object from result_candles where object is not null order by 1`,
    )).map((row) => String(Object(row).object));

  const before = await open({});
  const ann = before.client();
  await ann.signUp();
  const old = await run(ann, BACKTEST);
  await ann.finish(old);
  const texts = await read(ann, old);
  await before.close();

  await t.step("a wrong bucket and a wrong key are refused at the start, in one line", async () => {
    const refused = async (more: Readonly<Record<string, string>>) => {
      const error = await open({ ...server.environment, ...more }).catch((error) => error);
      return error instanceof Error ? error.message : "";
    };
    expect(await refused({ S3_BUCKET: "another" })).toBe(
      "Cannot start: S3_BUCKET another cannot be used: the object store answered 404 NoSuchBucket",
    );
    expect(await refused({ S3_ACCESS_KEY_ID: "nobody" })).toBe(
      "Cannot start: S3_BUCKET hindcast cannot be used: the object store answered 403 InvalidAccessKeyId",
    );
    expect(() => readConfig({ ...server.environment, S3_BUCKET: "" })).toThrow(
      "Cannot start: S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together",
    );
  });

  const service = await open(server.environment);
  const client = service.client();
  client.cookie = ann.cookie;

  await t.step("new rows keep no bytes, and old ones are read as before", async () => {
    expect(await read(client, old)).toEqual(texts);
    const id = await run(client, BACKTEST);
    await client.finish(id);
    expect(await read(client, id)).toEqual(texts);
    const imported = await importHours(client, 1000);
    expect([imported.status, imported.at("/imported")]).toEqual([200, 1000]);
    const again = await importHours(client, 1001);
    expect([again.at("/imported"), again.at("/unchanged")]).toEqual([1, 1000]);
    const acme = await run(client, ACME);
    await client.finish(acme);
    const [bytes] = await administer(
      database.url,
      `select (select sum(octet_length(data)) from candle_chunks where object is not null)::integer as candles,
        (select sum(octet_length(data)) from result_chunks where backtest_id in ('${id}', '${acme}'))::integer as results`,
    );
    expect(bytes).toEqual({ candles: 0, results: 0 });
    const keys = new Set(await server.list());
    expect((await named()).filter((key) => !keys.has(key))).toEqual([]);
    // An equal submission gets the stored result, with an object of its own.
    const equal = await client.send("POST", "/api/backtests", { backtest: ACME });
    await client.finish(String(equal.at("/backtest/id")));
    expect(await read(client, String(equal.at("/backtest/id")))).toEqual(await read(client, acme));
  });

  await t.step("runs that were accepted while the store is away are completed once it is back", async () => {
    const id = await run(client, ACME);
    await client.finish(id);
    await server.halt();
    const answer = await client.get(`/api/backtests/${id}/trades`);
    expect([answer.status, answer.at("/error/code"), answer.at("/error/message")]).toEqual([
      503,
      "UNAVAILABLE",
      "Cannot answer now: the object store is unreachable; try again later",
    ]);
    expect(answer.headers.get("retry-after")).not.toBeNull();
    expect((await importHours(client, 1002)).status).toBe(503);
    const ready = await client.get("/api/health/ready");
    expect([ready.status, ready.list("/reasons").join().includes("the object store")]).toEqual([503, true]);
    const accepted = [await run(client, ACME), await run(client, { ...BACKTEST, initial_balance: 2000 })];
    await until(async () => (await client.get(`/api/backtests/${accepted[0]}`)).at("/backtest/status") === "running");
    await server.start();
    for (const each of accepted) await client.finish(each);
    expect(await read(client, accepted[0]!)).toEqual(await read(client, id));
    const attempts = await administer(
      database.url,
      `select attempts from backtests where id in ('${accepted.join("','")}')`,
    );
    expect(attempts).toEqual([{ attempts: 1 }, { attempts: 1 }]);
    expect((await importHours(client, 1002)).at("/imported")).toBe(1);
    await until(async () => (await client.get("/api/health/ready")).status === 200);
  });

  await t.step("objects that no row names are removed, and no others", async () => {
    const handle = await openPostgres(database.url, 1);
    const bucket = readBucket(readConfig({ ...server.environment }).objects);
    await openObjectStore(handle.db, bucket);
    const NEVER = new AbortController().signal;
    const sweep = () => sweepObjects(handle.db, NEVER, { graceMs: -60_000, settleMs: 0 });
    expect(await sweepObjects(handle.db, NEVER)).toBe(0);
    // The months that the second and the third import replaced, at least.
    expect(await sweep()).toBeGreaterThan(1);
    expect(await server.list()).toEqual(await named());
    expect((await client.send("POST", "/api/auth/delete-user", { password: PASSWORD })).status).toBe(200);
    await sweep();
    const candles = await named();
    expect(await server.list()).toEqual(candles);
    const store = objectStoreOf(handle.db)!;
    await store.remove(candles[0]!);
    await expect(store.get(candles[0]!)).rejects.toThrow(LostObject);
    await handle.close();
  });
  await service.close();

  await t.step("a process without the settings, or with another bucket, does not start", async () => {
    await expect(open({})).rejects.toThrow("Cannot start: S3_ENDPOINT must be set");
  });
});
