/** Clients that never read, against a service with the permissions of its task. */
import { expect } from "@std/expect";
import { ANSWER_LIMITS } from "../../server/middleware/stream_limits.ts";
import { BACKTEST } from "../support/client.ts";
import { startProcess } from "../support/process.ts";
import { askSilently } from "../support/silent_client.ts";
import { until } from "../support/until.ts";

const CLIENTS = 60;
// Much longer than a request waits for its turn.
const STALL_SECONDS = 10;

Deno.test("clients that never read are refused beyond a number and then cut off; those that read are not", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const service = await startProcess("serve", { DATA_DIR: folder, STREAM_STALL_SECONDS: String(STALL_SECONDS) });
  try {
    const client = service.client();
    await client.signUp();
    const year = { ...BACKTEST, end_date: "2025-01-01", parameters: { timeframe: "1m" } };
    const id = (await client.send("POST", "/api/backtests", { backtest: year })).at("/backtest/id");
    expect((await client.finish(id)).at("/backtest/status")).toBe("completed");
    const path = `/api/backtests/${id}/equity?format=csv`;
    const whole = (await client.get(path)).text;

    const silent = await Promise.all(
      Array.from({ length: CLIENTS }, () => askSilently(service.url, path, client.cookie)),
    );
    // All places are taken: another of the address is refused, and anything short is answered.
    expect(
      await until(async () => {
        const answer = await fetch(service.url + path, { headers: { cookie: client.cookie } });
        if (answer.status === 200) await answer.body?.cancel();
        return answer.status === 429 &&
          { code: (await answer.json()).error.code, retry: answer.headers.get("retry-after") };
      }),
    ).toEqual({ code: "RATE_LIMITED", retry: "1" });
    expect((await client.get("/api/health")).status).toBe(200);
    // A client that reads is served when those that do not have been cut off.
    const served = await until(async () => {
      const answer = await client.get(path);
      return answer.status === 200 && answer.text;
    });
    expect(served).toBe(whole);
    const answers = await Promise.all(silent.map(({ read }) => read()));
    const begun = answers.filter((text) => text.startsWith("HTTP/1.1 200"));
    expect(begun.length).toBeGreaterThanOrEqual(ANSWER_LIMITS.addressMax);
    expect(answers.length - begun.length).toBe(answers.filter((text) => text.startsWith("HTTP/1.1 429")).length);
    expect(begun.filter((text) => text.length > whole.length)).toEqual([]);
  } finally {
    await service.end("SIGTERM");
    await Deno.remove(folder, { recursive: true });
  }
});
