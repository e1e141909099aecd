import { expect } from "@std/expect";
import { openPostgres } from "../../../db/client.ts";
import { answerRequest, takeRequest } from "../../../db/served_requests.ts";
import { servedRequests } from "../../../db/schema.ts";
import { Jobs } from "../../../workers/jobs/jobs.ts";
import { Relay } from "../../../workers/served/relay.ts";
import { addUser } from "../../support/backtests.ts";
import { createTestDatabase } from "../../support/database.ts";
import { until } from "../../support/until.ts";

const ENDPOINT = { ownerId: "ann", name: "mine" };
const QUESTION = `{"version":1}`;

Deno.test("Relay answers a run's calls with what a program answers, or says what it waited for", async (t) => {
  const { url, drop } = await createTestDatabase();
  const handle = await openPostgres(url, 4);
  const { db } = handle;
  await addUser(db, "ann");
  const jobs = await Jobs.open(handle, 60, true);
  const relay = new Relay(db, jobs.changes, { waitMs: 300 });
  const open = (timeoutMs = 60_000) => relay.open({ ...ENDPOINT, timeoutMs });
  const call = async (opened: ReturnType<typeof open>, to = opened.endpoint.url) => {
    const answer = await fetch(to, { method: "POST", body: QUESTION });
    return [answer.status, await answer.text()];
  };
  const take = () => until(() => takeRequest(db, ENDPOINT));

  await t.step("an answer", async () => {
    const opened = open();
    const called = call(opened);
    const taken = await take();
    expect([taken.body, await takeRequest(db, ENDPOINT)]).toEqual([QUESTION, null]);
    expect(await takeRequest(db, { ...ENDPOINT, ownerId: "eve" })).toBe(null);
    const answer = { json: `{"version":1,"decisions":[]}`, isRefusal: false };
    expect(await answerRequest(db, { ...ENDPOINT, ownerId: "eve", id: taken.id }, answer)).toBe(false);
    expect(await answerRequest(db, { ...ENDPOINT, id: taken.id }, answer)).toBe(true);
    expect(await answerRequest(db, { ...ENDPOINT, id: taken.id }, { ...answer, json: "{}" })).toBe(false);
    expect(await called).toEqual([200, answer.json]);
    await opened.close();
  });
  await t.step("no program", async () => {
    const opened = open();
    expect(await call(opened)).toEqual([
      422,
      expect.stringMatching(/it has not asked for work within 0.3 s: start it with hindcast strategy serve/),
    ]);
    await opened.close();
  });
  await t.step("a program that takes a request and is lost, and so is the next", async () => {
    const opened = open(50);
    const called = call(opened);
    const [first, second] = [await take(), await take()];
    expect(second).toEqual(first);
    expect(await called).toEqual([
      422,
      expect.stringMatching(/it was sent the candles twice, and answered neither within 50 ms nor 0.3 s later/),
    ]);
    await opened.close();
  });
  await t.step("a program that is lost and has no heir", async () => {
    const opened = open(50);
    const called = call(opened);
    await take();
    expect(await called).toEqual([422, expect.stringMatching(/it was sent the candles once, and answered neither/)]);
    await opened.close();
  });
  await t.step("a run that ends leaves no request, and its address answers nobody else", async () => {
    const opened = open();
    const { port } = opened.endpoint;
    expect(await call(opened, `http://127.0.0.1:${port}/`)).toEqual([404, ""]);
    const called = call(opened);
    await take();
    await opened.close();
    expect(await called).toEqual([422, `{"error":"the run has ended"}`]);
    expect(await db.select().from(servedRequests)).toEqual([]);
    await expect(call(opened)).rejects.toThrow();
  });
  await jobs.close();
  await handle.close();
  await drop();
});
