/** Clients that never read, or stop sending, against a service with the permissions of its task. */
import { expect } from "@std/expect";
import { ANSWER_LIMITS } from "../../server/answers/stream_limits.ts";
import { BACKTEST } from "../support/client.ts";
import { copyFolder } from "../support/copy_folder.ts";
import { prepare } from "../support/prepare.ts";
import { startProcess } from "../support/process.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";
import { askSilently, postPart } from "../support/silent_client.ts";
import { until } from "../support/until.ts";

// Two that have no place.
const CLIENTS = ANSWER_LIMITS.addressMax + 2;
// Much longer than a request waits for its turn.
const STALL_SECONDS = 20;

Deno.test("clients that never read are refused beyond a number and then cut off; those that read are not", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  copyFolder(`${await prepare("folder/service")}/database`, `${folder}/database`);
  const service = await startProcess("serve", { DATA_DIR: folder, STREAM_STALL_SECONDS: String(STALL_SECONDS) });
  try {
    const client = service.client();
    // More than the system keeps for a client that does not read.
    const path = "/api/market-data/ticks?symbol=DEMO&startDate=2024-01-01&endDate=2024-07-01&timeframe=1m";
    const read = async () => {
      const answer = await fetch(service.url + path, { headers: { "accept-encoding": "identity" } });
      const text = await answer.text();
      return answer.status === 200 && text;
    };
    const whole = await read();
    if (whole === false) throw new Error("Cannot read the ticks");

    const silent = await Promise.all(
      Array.from({ length: CLIENTS }, () => askSilently(service.url, path)),
    );
    // All places are taken: another of the address is refused, and anything short is answered.
    expect(
      await until(async () => {
        const answer = await fetch(service.url + path);
        if (answer.status === 200) await answer.body?.cancel();
        return answer.status === 429 &&
          { code: (await answer.json()).error.code, retry: answer.headers.get("retry-after") };
      }),
    ).toEqual({ code: "RATE_LIMITED", retry: "1" });
    expect((await client.get("/api/market-data/instruments")).status).toBe(200);
    // A client that reads is served when those that do not have been cut off.
    expect(await until(read)).toBe(whole);
    // The places of all of them are free. Those that began last are cut off last.
    await until(async () => {
      const others = await Promise.all(
        Array.from({ length: ANSWER_LIMITS.addressMax }, () => fetch(service.url + path)),
      );
      await Promise.all(others.map(({ body }) => body?.cancel()));
      return others.every(({ status }) => status === 200);
    });
    const answers = await Promise.all(silent.map(({ read }) => read()));
    const begun = answers.filter(({ status }) => status === "HTTP/1.1 200 OK");
    expect(begun.length).toBeGreaterThanOrEqual(ANSWER_LIMITS.addressMax);
    expect(answers.length - begun.length).toBe(answers.filter(({ status }) => /^HTTP\/1.1 429 /.test(status)).length);
    expect(begun.filter(({ bytes }) => bytes > whole.length)).toEqual([]);
  } finally {
    await service.end("SIGTERM");
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a body of which nothing more arrives is answered 408 on every surface; one that arrives slowly is read", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0", STREAM_STALL_SECONDS: "5" });
  const user = await service.user();
  const json = { "content-type": "application/json", cookie: user.cookie };
  const stalls: Record<string, Record<string, string>> = {
    "/api/backtests": json,
    "/api/auth/sign-in/email": json,
    "/trpc/backtests.create": json,
    "/api/admin/ingestion/import?symbol=X&exchange=CSV&assetClass=stock&timeframe=1d": {
      "content-type": "text/csv",
      "x-ingestion-admin-secret": INGESTION_SECRET,
    },
  };
  const body = JSON.stringify({ backtest: BACKTEST });
  const slow = await postPart(service.url, "/api/backtests", {
    ...{ length: body.length, part: body.slice(0, 1) },
    headers: json,
  });
  let sent = 1;
  const timer = setInterval(() => void slow.send(body.slice(sent, ++sent)), 250);
  await Promise.all(
    Object.entries(stalls).map(async ([path, headers]) => {
      const client = await postPart(service.url, path, { length: 1000, part: "timestamp,", headers });
      expect([path, await client.readStatus()]).toEqual([path, "HTTP/1.1 408 Request Timeout"]);
      client.close();
    }),
  );
  clearInterval(timer);
  await slow.send(body.slice(sent));
  expect(await slow.readStatus()).toBe("HTTP/1.1 202 Accepted");
  slow.close();
  await service.close();
});
