/** Links to runs, comparisons and optimizations: they show what was shared to everybody, and nothing else to anybody. */
import { expect } from "@std/expect";
import { openPostgres } from "../../db/client.ts";
import { removeExpiredShares } from "../../db/shares.ts";
import { appRouter, describeProcedure } from "../../routers/app.ts";
import { BACKTEST, TestClient } from "../support/client.ts";
import { administer } from "../support/database.ts";
import { prepare } from "../support/prepare.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { startTestService, type TestService } from "../support/service.ts";

const PASSWORD = "correct horse battery";
const SECRET = "mySecretThreshold";
const CODE = `strategy(({ fast }) => ({
  decide(i, { close }, account, orders) {
    const ${SECRET} = 0;
    if (i === 3) console["log"]("${SECRET}");
    if (close[i] > ${SECRET}) orders.buy({ tag: "above" });
  },
}));`;
const NOTES = "words for nobody else";
const HOUR = { ...BACKTEST, parameters: { timeframe: "1h" } };

interface Made {
  readonly id: string;
  readonly token: string;
  readonly path: string;
}

async function share(user: TestClient, subject: object): Promise<Made> {
  const answer = await user.send("POST", "/api/shares", { share: subject });
  if (answer.status !== 201) throw new Error(`Cannot share: ${answer.status} ${answer.text}`);
  return { id: String(answer.at("/share/id")), token: String(answer.at("/token")), path: String(answer.at("/path")) };
}

async function run(user: TestClient, backtest: object): Promise<string> {
  const id = String((await user.send("POST", "/api/backtests", { backtest })).at("/backtest/id"));
  expect((await user.finish(id)).at("/backtest/status")).toBe("completed");
  return id;
}

const query = (path: string, input: unknown) => `/trpc/${path}?input=${encodeURIComponent(JSON.stringify(input))}`;
const by = (token: string) => ({ "x-share-token": token });

Deno.test("a link shows one record to everybody, and opens nothing else", async (t) => {
  const [service] = await Promise.all([startTestService("PostgreSQL"), prepare("console")]);
  const owner = service.client();
  const email = await owner.signUp(undefined, PASSWORD);
  const stranger = service.client();
  const runtime = { type: "script", source: CODE };
  const shared = await run(owner, {
    ...HOUR,
    strategy: "Mine",
    parameters: { timeframe: "1h", fast: 7, runtime },
    ...{ name: '<Best> & "only" $& one', notes: NOTES, tags: ["hidden-tag"], star: true },
  });
  const other = await run(owner, { ...HOUR, name: "kept to myself" });
  const optimization = await submitOptimization(owner, { name: "a shared search" });
  await finishOptimization(owner, optimization);
  const link = await share(owner, { backtest_id: shared });
  const ids = { shared, other, optimization };

  await t.step("the address opens the run, without what its owner keeps", async () => {
    expect(link.token).toMatch(/^hcs_[\w-]{43}$/);
    expect(link.path).toBe(`/shared/${link.token}`);
    const opened = await stranger.get(`/api/shared/${link.token}`);
    expect([opened.status, opened.at("/kind"), opened.at("/backtest/id")]).toEqual([200, "backtest", shared]);
    expect(opened.at("/backtest/parameters")).toMatchObject({ fast: 7, runtime: { type: "script" } });
    expect([opened.at("/backtest/notes"), opened.at("/backtest/tags"), opened.at("/backtest/star")])
      .toEqual([null, [], false]);
    for (const word of [SECRET, NOTES, "hidden-tag", email, other]) expect(opened.text).not.toContain(word);
    expect(opened.headers.get("cache-control")).toBe("no-store");
  });
  await t.step("a comparison and an optimization are shared alike", () => shareOthers(owner, stranger, ids));
  await t.step("no procedure gives the holder anything but the record", () => attackAll(owner, link, ids, email));
  await t.step("only hashes of tokens are stored, and lists have none", async () => {
    const rows = await administer(service.databaseUrl, "select * from shares");
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(link.token.slice(4));
    const listed = await owner.get(`/api/shares?backtest_id=${shared}`);
    expect(listed.text).toContain(link.id);
    expect(listed.text).not.toContain("hcs_");
  });
  await t.step("the page says in its head what it shows, as text", () => readHead(stranger, link, ids, owner));
  await t.step("what is asked for is checked", () => checkRequests(owner, ids));
  await t.step("another user neither shares, lists nor revokes it", async () => {
    const foreign = await service.user();
    const refused = await foreign.send("POST", "/api/shares", { share: { backtest_id: shared } });
    expect([refused.status, refused.at("/error/code")]).toEqual([404, "BACKTEST_NOT_FOUND"]);
    expect((await foreign.get("/api/shares")).list("/shares")).toEqual([]);
    expect((await foreign.send("DELETE", `/api/shares/${link.id}`)).status).toBe(404);
    expect((await stranger.get(`/api/shared/${link.token}`)).status).toBe(200);
  });
  await t.step("revoked, expired, deleted and banned ones open nothing", () => endLinks(service, owner, ids));
  await t.step("they go with their account", async () => {
    const last = await share(owner, { backtest_id: other });
    expect((await owner.send("POST", "/api/auth/delete-user", { password: PASSWORD })).status).toBe(200);
    expect((await stranger.get(`/api/shared/${last.token}`)).at("/error/code")).toBe("SHARE_NOT_FOUND");
    expect(await administer(service.databaseUrl, "select id from shares")).toEqual([]);
  });
  await service.close();
});

interface Ids {
  readonly shared: string;
  readonly other: string;
  readonly optimization: string;
}

async function shareOthers(owner: TestClient, stranger: TestClient, { shared, other, optimization }: Ids) {
  const compared = await share(owner, { backtest_ids: [shared, other] });
  const comparison = await stranger.get(`/api/shared/${compared.token}`);
  expect(comparison.at("/kind")).toBe("comparison");
  expect(comparison.list("/comparison/backtests").length).toBe(2);
  expect(comparison.text).not.toContain("hidden-tag");
  expect(comparison.text).not.toContain("/parameters/runtime");
  // It shows the runs side by side, and neither of them alone.
  const alone = await stranger.get(query("backtests.tradeTable", { id: shared }), by(compared.token));
  expect([alone.status, alone.at("/error/data/appCode")]).toEqual([403, "FORBIDDEN"]);
  const searched = await share(owner, { optimization_id: optimization });
  const answer = await stranger.get(`/api/shared/${searched.token}`);
  expect([answer.at("/kind"), answer.at("/optimization/name")]).toEqual(["optimization", "a shared search"]);
  const trials = await stranger.get(query("optimizations.trials", { id: optimization, limit: 5 }), by(searched.token));
  expect(trials.list("/result/data/trials").length).toBe(5);
  for (const format of ["json", "csv"]) {
    const file = await stranger.get(`/api/shared/${searched.token}/trials?format=${format}`);
    expect(file.text).toBe((await owner.get(`/api/optimizations/${optimization}/trials?format=${format}`)).text);
  }
  expect((await stranger.get(`/api/shared/${searched.token}/trades`)).at("/error/code")).toBe("SHARE_NOT_FOUND");
}

/** Calls every query of the service with the link, for the shared run and for what it must not reach. */
async function attackAll(owner: TestClient, { token }: Made, ids: Ids, email: string) {
  const holder = new TestClient(owner.url);
  const opened: string[] = [];
  for (const path of Object.keys(appRouter._def.procedures)) {
    const { type, keys } = describeProcedure(path);
    for (const id of [ids.shared, ids.other, ids.optimization]) {
      const input: Record<string, unknown> = {};
      if (keys.has("id")) input["id"] = id;
      if (keys.has("backtest_id")) input["backtest_id"] = id;
      if (keys.has("ids")) input["ids"] = [ids.shared, id];
      const answer = type === "mutation"
        ? await holder.send("POST", `/trpc/${path}`, { ...input, backtest: {} }, by(token))
        : await holder.get(query(path, input), { ...by(token), accept: "application/json" });
      for (const word of [SECRET, NOTES, "hidden-tag", email, ids.other, "kept to myself"]) {
        // A refusal may repeat what was sent.
        if (answer.status === 200) expect([path, answer.text]).toEqual([path, expect.not.stringContaining(word)]);
      }
      // A stream has begun before it refuses.
      const isRefused = type === "subscription" && answer.text.includes("UNAUTHENTICATED");
      const isAnswered = answer.status === 200 && !isRefused && (keys.has("id") || keys.has("backtest_id"));
      if (isAnswered) opened.push(`${path} ${id === ids.shared ? "shared" : "ANOTHER"}`);
      if (type === "mutation") expect([path, answer.status]).toEqual([path, expect.any(Number)]);
      if (type === "mutation") expect(answer.status).toBeGreaterThanOrEqual(400);
    }
  }
  expect(opened.toSorted()).toEqual([
    ...["chart", "equity", "orders", "report", "returns", "series", "sides", "tradeSpread", "tradeTable", "trades"]
      .map((name) => `backtests.${name} shared`),
    "monteCarlo.list shared",
    "stressTests.list shared",
  ]);
  // Lists without an id would be of all runs.
  for (const path of ["monteCarlo.list", "stressTests.list", "backtests.summaries", "shares.list", "session.get"]) {
    expect([path, (await holder.get(query(path, {}), by(token))).status >= 400]).toEqual([path, true]);
  }
  // REST takes the token in its own path alone.
  for (const path of ["", "/trades", "/log", "/report", "/orders", "/equity"]) {
    expect((await holder.get(`/api/backtests/${ids.shared}${path}`, by(token))).status).toBe(401);
  }
  for (const file of ["report", "trades", "orders", "holdings", "equity", "returns", "trades?format=csv"]) {
    const [read, own] = [
      await holder.get(`/api/shared/${token}/${file}`),
      await owner.get(`/api/backtests/${ids.shared}/${file}`),
    ];
    expect([file, read.status, read.text === own.text]).toEqual([file, 200, true]);
    for (const word of [SECRET, NOTES, "hidden-tag", email, ids.other]) expect(read.text).not.toContain(word);
  }
  const others = await holder.get(`/api/shared/${token}/trials`);
  expect([others.status, others.at("/error/code")]).toEqual([404, "SHARE_NOT_FOUND"]);
  expect((await holder.get(`/api/shared/${token.slice(0, -1)}-/trades`)).at("/error/code")).toBe("SHARE_NOT_FOUND");
  const mistyped = await holder.get(query("backtests.chart", { id: ids.shared }), by(`${token.slice(0, -1)}-`));
  expect(mistyped.at("/error/data/appCode")).toBe("SHARE_NOT_FOUND");
}

async function readHead(stranger: TestClient, { token, path }: Made, { optimization }: Ids, owner: TestClient) {
  const page = await stranger.get(path, { accept: "text/html" });
  const name = "&#60;Best&#62; &#38; &#34;only&#34; $&#38; one on DEMO";
  expect(page.text).toContain(`<title>${name} · Hindcast</title>`);
  expect(page.text).toContain(`<meta property="og:title" content="${name}" />`);
  expect(page.text).toContain(`<meta property="og:image" content="${stranger.url}/shared/${token}/picture.png" />`);
  expect(page.text).not.toContain("<Best>");
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.headers.get("x-robots-tag")).toBe("noindex, nofollow");
  expect(page.headers.get("referrer-policy")).toBe("no-referrer");
  const picture = await fetch(`${stranger.url}${path}/picture.png`);
  expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"]);
  const bytes = new DataView(await picture.arrayBuffer());
  // The signature of a PNG, then its width and height.
  expect([bytes.getUint32(0), bytes.getUint32(16), bytes.getUint32(20)]).toEqual([0x89504e47, 600, 315]);
  const unknown = await stranger.get(`/shared/hcs_${"a".repeat(43)}`, { accept: "text/html" });
  expect([unknown.status, unknown.text.includes("og:title")]).toEqual([200, false]);
  const plain = await share(owner, {
    backtest_id: await run(owner, { ...HOUR, parameters: { timeframe: "1h", fast: 7 } }),
  });
  expect((await stranger.get(plain.path, { accept: "text/html" })).text).toContain(
    `<meta property="og:title" content="${BACKTEST.strategy}: fast 7 on DEMO" />`,
  );
  const search = await share(owner, { optimization_id: optimization });
  const text = (await stranger.get(search.path, { accept: "text/html" })).text;
  expect(text).toContain("Optimization: a shared search on DEMO");
  expect(text).not.toContain("og:image");
}

async function checkRequests(owner: TestClient, { shared, other }: Ids) {
  for (
    const [wanted, message] of [
      [{}, "/share must have one of backtest_id, backtest_ids and optimization_id"],
      [{ backtest_id: shared, backtest_ids: [shared, other] }, "/share must have one of"],
      [{ backtest_id: shared, expires_in_days: 367 }, "/share/expires_in_days must be at most 366, not 367"],
      [{ backtest_ids: [shared, shared] }, `/share/backtest_ids must name each backtest once, not ${shared} twice`],
      [{ backtest_ids: [shared] }, "/share/backtest_ids must be at least 2 entries long"],
    ] as const
  ) {
    const answer = await owner.send("POST", "/api/shares", { share: wanted });
    expect([answer.status, answer.at("/error/message")]).toEqual([400, expect.stringContaining(message)]);
  }
  const failed = { ...HOUR, start_date: "2023-01-01", end_date: "2023-02-01" };
  const id = String((await owner.send("POST", "/api/backtests", { backtest: failed })).at("/backtest/id"));
  await owner.finish(id);
  const unready = await owner.send("POST", "/api/shares", { share: { backtest_id: id } });
  expect([unready.status, unready.at("/error/code")]).toEqual([409, "NOT_COMPLETED"]);
  // The comparison that begins with the run counts, too.
  const before = (await owner.get(`/api/shares?backtest_id=${shared}`)).list("/shares").length;
  for (let i = before; i < 10; i++) await share(owner, { backtest_id: shared, expires_in_days: 1 });
  const full = await owner.send("POST", "/api/shares", { share: { backtest_id: shared } });
  expect([full.status, full.at("/error/message")]).toEqual([
    429,
    "Cannot keep another link: there are 10 to the same record; delete links that you no longer need",
  ]);
}

async function endLinks(service: TestService, owner: TestClient, { shared, other, optimization }: Ids) {
  const stranger = service.client();
  const sqlOf = (text: string) => administer(service.databaseUrl, text);
  const codeOf = async ({ token }: Made) => (await stranger.get(`/api/shared/${token}`)).at("/error/code");
  const revoked = await share(owner, { backtest_id: other });
  expect((await owner.send("DELETE", `/api/shares/${revoked.id}`)).status).toBe(204);
  expect(await codeOf(revoked)).toBe("SHARE_NOT_FOUND");
  expect((await stranger.get(`${revoked.path}/picture.png`)).status).toBe(404);
  const read = await stranger.get(query("backtests.chart", { id: other }), by(revoked.token));
  expect(read.at("/error/data/appCode")).toBe("SHARE_NOT_FOUND");

  const expired = await share(owner, { backtest_id: other });
  await sqlOf(`update shares set expires_at = now() where id = '${expired.id}'`);
  expect(await codeOf(expired)).toBe("SHARE_NOT_FOUND");
  const handle = await openPostgres(service.databaseUrl, 1);
  await removeExpiredShares(handle.db);
  await handle.close();
  expect(await sqlOf(`select id from shares where id = '${expired.id}'`)).toEqual([]);

  const live = await share(owner, { optimization_id: optimization });
  const ownerId = (await owner.get("/api/session")).at("/user/id");
  await sqlOf(`update "user" set banned = true where id = '${ownerId}'`);
  expect(await codeOf(live)).toBe("SHARE_NOT_FOUND");
  await sqlOf(`update "user" set banned = false where id = '${ownerId}'`);
  expect(await codeOf(live)).toBe(undefined);

  const compared = await share(owner, { backtest_ids: [other, shared] });
  expect((await owner.send("DELETE", `/api/backtests/${shared}`)).status).toBe(204);
  expect(await codeOf(compared)).toBe("SHARE_NOT_FOUND");
  expect(await sqlOf(`select id from shares where backtest_id = '${shared}'`)).toEqual([]);
}
