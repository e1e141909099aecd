/** Candles and results whose bytes live in a bucket. */
import { expect } from "@std/expect";
import { AwsClient } from "aws4fetch";
import { denoArguments } from "../../cli/commands.ts";
import { openPostgres } from "../../db/client.ts";
import { sweepObjects } from "../../db/object_sweep.ts";
import { LostObject } from "../../db/objects/object_store.ts";
import { openObjectStore } from "../../db/open_object_store.ts";
import { objectStoreOf } from "../../db/postgres_session.ts";
import { readConfig } from "../../server/config.ts";
import { readBucket } from "../../server/object_settings.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { administer, createTestDatabase } from "../support/database.ts";
import { EMPTY_BUCKET, startObjectServer } from "../support/object_server.ts";
import { runTaskCommand } from "../support/process.ts";
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
  const stored = { DATABASE_URL: database.url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
  const open = (environment: Readonly<Record<string, string>>) =>
    startTestService("PostgreSQL", { ...stored, ...environment });
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
  const importHours = (client: TestClient, count: number, symbol = "ACME") =>
    client.send("POST", IMPORT.replace("ACME", symbol), hours(count), {
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

  /** Moves bytes. @param rows How many are to be moved. @returns Where to. */
  const move = async (rows?: number, more: Readonly<Record<string, string>> = {}) => {
    const environment = { ...stored, ...server.environment, ...more };
    const { code, stdout, stderr } = await runTaskCommand("admin", ["move-bytes"], environment);
    expect([code, stderr]).toEqual([0, ""]);
    const [, counted, to] = /^(\d+) rows are to go to the (\w+)\./.exec(stdout) ?? [];
    if (rows !== undefined) expect(Number(counted)).toBe(rows);
    return to;
  };

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
    expect(() => readConfig({ ...server.environment, S3_NEW_BYTES: "bukket" })).toThrow(
      'Cannot start: S3_NEW_BYTES must be bucket or database, not "bukket"',
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

  await t.step(
    "a command moves all bytes either way beside the service, and one that is killed loses none",
    async () => {
      const id = await run(client, BACKTEST);
      await client.finish(id);
      const kill = async (method: string, more: Readonly<Record<string, string>> = {}) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        let seen = 0;
        // The first eight rows are written before the ninth object is.
        server.withholds = (request) => {
          if (request.method !== method || ++seen <= 12) return false;
          resolve();
          return true;
        };
        const env = { NO_COLOR: "1", ...stored, ...server.environment, ...more };
        const command = new Deno.Command(Deno.execPath(), {
          args: denoArguments("admin", ".data").concat("move-bytes"),
          env,
        });
        const process = command.spawn();
        await promise;
        process.kill("SIGKILL");
        await process.status;
        server.withholds = () => false;
      };
      const inDatabase = async () => {
        const [row] = await administer(
          database.url,
          `select (select count(*) from candle_chunks where object is null)
          + (select count(*) from result_candles where object is null)
          + (select count(*) from result_chunks where object is null) as rows`,
        );
        return Number(Object(row).rows);
      };
      const check = async () => {
        for (const each of [old, id]) expect(await read(client, each)).toEqual(texts);
        const fresh = await run(client, BACKTEST);
        await client.finish(fresh);
        expect(await read(client, fresh)).toEqual(texts);
      };
      const all = await inDatabase();
      await kill("PUT");
      const left = await inDatabase();
      expect([left > 0, left < all]).toEqual([true, true]);
      await check();
      expect(await move(left)).toBe("bucket");
      expect(await inDatabase()).toBe(0);
      expect(await move(0)).toBe("bucket");
      const keys = new Set(await server.list());
      expect((await named()).filter((key) => !keys.has(key))).toEqual([]);
      await check();
      const out = { S3_NEW_BYTES: "database" };
      await kill("GET", out);
      expect([(await named()).length > 0, await inDatabase() > 0]).toEqual([true, true]);
      await check();
      expect(await move(undefined, out)).toBe("database");
      expect(await named()).toEqual([]);
      await check();
    },
  );

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

  await t.step("a bucket that has lost objects is told from a wrong one", async () => {
    await importHours(client, 1000, "OTHER");
    await service.close();
    const handle = await openPostgres(database.url, 1);
    const start = (more: Readonly<Record<string, string>> = {}) =>
      openObjectStore(handle.db, readBucket(readConfig({ ...server.environment, ...more }).objects));
    await start();
    const store = objectStoreOf(handle.db)!;
    const keys = await server.list();
    const mark = `${keys[0]!.slice(0, keys[0]!.indexOf("/"))}/probe`;
    // One object is lost already: two months are left.
    expect([keys.length, (await named()).length]).toEqual([2, 3]);
    await store.remove(mark);
    await start();
    // A start that was refused leaves nothing by which the next one would know the bucket.
    for (let i = 0; i < 2; i++) {
      await expect(start({ S3_BUCKET: EMPTY_BUCKET })).rejects.toThrow(
        `Cannot start: S3_BUCKET empty is not the one with this database's bytes: it has neither ${mark} nor any of 3 `,
      );
    }
    for (const key of keys) await store.remove(key);
    const lost = await open(server.environment);
    expect((await lost.client().get("/api/health/ready")).status).toBe(200);
    await lost.close();
    await store.remove(mark);
    await expect(start()).rejects.toThrow(`put an empty object ${mark} into it`);
    const { S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = server.environment;
    const operator = new AwsClient({
      accessKeyId: S3_ACCESS_KEY_ID!,
      secretAccessKey: S3_SECRET_ACCESS_KEY!,
      service: "s3",
    });
    const put = await operator.fetch(`${S3_ENDPOINT}/${S3_BUCKET}/${mark}`, { method: "PUT" });
    expect([put.status, await put.text()]).toEqual([200, ""]);
    await start();
    await handle.close();
  });

  await t.step("a process without the settings starts only once no row names an object", async () => {
    await expect(open({})).rejects.toThrow("Cannot start: S3_ENDPOINT must be set");
    await administer(database.url, "delete from candle_chunks where object is not null");
    const out = { ...server.environment, S3_NEW_BYTES: "database" };
    const leaving = await open(out);
    const bo = await leaving.user();
    await bo.finish(await run(bo, BACKTEST));
    expect(await named()).toEqual([]);
    const lost = `none/${"0".repeat(64)}.5.0123456789abc`;
    await administer(database.url, `update result_candles set object = '${lost}', data = ''`);
    const ended = await runTaskCommand("admin", ["move-bytes"], { ...stored, ...out });
    expect([ended.code, ended.stderr.includes(`Cannot move the bytes of a row: the object ${lost} is not in`)])
      .toEqual([1, true]);
    await leaving.close();
    await expect(open({})).rejects.toThrow("Cannot start: S3_ENDPOINT must be set");
    await administer(database.url, "update result_candles set object = null");
    const after = await open({});
    await after.close();
    expect((await runTaskCommand("admin", ["move-bytes"], stored)).stderr).toBe(
      "Cannot move bytes: S3_ENDPOINT is not set, and the database has all of them.\n",
    );
  });
});
