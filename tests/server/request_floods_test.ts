/** Requests of one user, many at once, beside those of another. */
import { expect } from "@std/expect";
import postgres from "postgres";
import { startTestService, type TestService } from "../support/service.ts";
import type { Answer } from "../support/client.ts";

const FLOOD = 200;
const UNKNOWN = `/api/backtests/${crypto.randomUUID()}`;

Deno.test("a request is not answered behind all those that another sent before it", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const [flooding, calm] = [await service.user(), await service.user()];
  const floods: Readonly<Record<string, { status: number; send: (nth: number) => Promise<Answer> }>> = {
    "with one session": { status: 404, send: () => flooding.get(UNKNOWN) },
    "with one session, among cookies that differ": {
      status: 404,
      send: (nth) => service.client().get(UNKNOWN, { cookie: `n=${nth}; ${flooding.cookie}` }),
    },
    "with tokens that are made up": {
      status: 401,
      send: () => service.client().get(UNKNOWN, { authorization: `Bearer ${makeUpToken()}` }),
    },
  };
  for (const [name, { status, send }] of Object.entries(floods)) {
    await t.step(name, async () => {
      let answered = 0;
      const { flood, last } = await beforeAnyIsRead(service, async () => {
        const flood = Array.from({ length: FLOOD }, async (_, nth) => {
          const answer = await send(nth);
          answered++;
          return answer.status;
        });
        const last = calm.get(UNKNOWN).then((answer) => [answer.status, answered] as const);
        await allArrived(service);
        return { flood, last };
      });
      const [calmStatus, before] = await last;
      expect(calmStatus).toBe(404);
      expect(before).toBeLessThan(FLOOD / 4);
      // Each of the flood is answered, too.
      expect(new Set(await Promise.all(flood))).toEqual(new Set([status]));
    });
  }
  await service.close();
});

Deno.test("a request whose client leaves before its turn asks the database nothing", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const left = new AbortController();
  await beforeAnyIsRead(service, async () => {
    const sent = Array.from(
      { length: FLOOD },
      () => fetch(`${service.url}${UNKNOWN}`, { headers: { cookie: user.cookie }, signal: left.signal }),
    );
    await allArrived(service);
    left.abort();
    for (const { status } of await Promise.allSettled(sent)) expect(status).toBe("rejected");
    await allArrived(service);
  });
  // Each whose user was looked up counts as one of the user's requests a minute.
  const [, remaining] = /"user";r=(\d+)/.exec((await user.get(UNKNOWN)).headers.get("ratelimit") ?? "") ?? [];
  expect(60_000 - Number(remaining)).toBeLessThan(FLOOD / 4);
  await service.close();
});

/** Has nobody's session or token be read until the requests have been sent. */
async function beforeAnyIsRead<Sent>({ databaseUrl }: TestService, send: () => Promise<Sent>): Promise<Sent> {
  const database = postgres(databaseUrl, { max: 1, onnotice() {} });
  const transaction = await database.reserve();
  try {
    await transaction`begin`;
    await transaction`lock table session, tokens in access exclusive mode`;
    return await send();
  } finally {
    await transaction`rollback`;
    transaction.release();
    await database.end();
  }
}

/** Waits until what was sent has arrived: these requests need no session, and come after it. */
async function allArrived(service: TestService): Promise<void> {
  for (let nth = 0; nth < 20; nth++) await service.client().get("/api/health/live");
}

function makeUpToken(): string {
  const text = (bytes: number) =>
    btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(bytes)))).replaceAll(/[+/=]/g, "a");
  return `hc_${text(12)}${text(32).slice(0, 43)}`;
}
