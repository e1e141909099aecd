/** The equity of a run that is under way, as the events of another process tell it. */
import { expect } from "@std/expect";
import { openWorker } from "../../main.ts";
import { readConfig } from "../../server/config.ts";
import { DATABASES } from "../support/database.ts";
import { startTestService } from "../support/service.ts";
import { readUntil } from "../support/until.ts";
import { z } from "zod";

const asked = z.object({ asked: z.int(), first_asked: z.int() });
const event = z.object({
  backtest: z.object({
    status: z.string(),
    progress: z.number(),
    partial_equity: z.object({ timestamp: z.string(), equity: z.number() }).nullable(),
  }),
});

for (const kind of DATABASES) {
  Deno.test(`a run that is under way tells its equity so far, whoever computes it (${kind})`, async () => {
    // It buys on the first candle and answers the first stretches; the others wait until somebody has seen an event.
    const seen = Promise.withResolvers<void>();
    const endpoint = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      const { asked: count, first_asked: first } = asked.parse(await request.json());
      if (first > 1000) await seen.promise;
      const decisions = Array.from({ length: count }, (_, i) => first + i === 0 ? [{ side: "buy" }] : []);
      return Response.json({ version: 1, decisions });
    });
    const host = `127.0.0.1:${endpoint.addr.port}`;
    const isApart = kind === "PostgreSQL";
    const environment = { REMOTE_ENDPOINT_ALLOW: host, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
    const service = await startTestService(kind, { ...environment, ...(isApart ? { WORKERS: "0" } : {}) });
    const worker = isApart
      ? await openWorker(readConfig({ ...environment, DATABASE_URL: service.databaseUrl, WORKERS: "1" }))
      : null;
    const user = await service.user();
    const runtime = { type: "remote", endpoint: `http://${host}/`, timeoutMs: 30_000 };
    const submitted = await user.send("POST", "/api/backtests", {
      backtest: {
        symbol: "DEMO",
        exchange: "SAMPLE",
        strategy: "waits",
        start_date: "2024-01-01",
        end_date: "2024-06-01",
        initial_balance: 10_000,
        parameters: { timeframe: "1h", runtime },
      },
    });
    const id = submitted.at("/backtest/id");
    expect([submitted.status, submitted.at("/backtest/partial_equity")]).toEqual([202, null]);

    const stream = await fetch(`${service.url}/api/backtests/${id}/events`, { headers: { cookie: user.cookie } });
    // 64, 256 and 1024 candles are decided: the last of them opened 1343 hours after the first. A part that is told sooner is less.
    const last = new Date(Date.UTC(2024, 0, 1) + 1343 * 3_600_000).toISOString();
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    let partial: { timestamp: string; equity: number } | null = null;
    for (let text = ""; partial?.timestamp !== last;) {
      text = await readUntil(reader, /\n\n/, text);
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks.filter((block) => block.includes("data: "))) {
        const { backtest } = event.parse(JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? ""));
        partial = backtest.partial_equity ?? partial;
      }
    }
    expect(partial?.timestamp).toBe(last);
    expect((await user.get(`/api/backtests/${id}`)).at("/backtest/partial_equity")).toEqual(partial);
    seen.resolve();
    const done = await user.finish(id);
    expect([done.at("/backtest/status"), done.at("/backtest/partial_equity")]).toEqual(["completed", null]);
    const curve = (await user.get(`/api/backtests/${id}/equity?points=10000`)).list("/equity").map(Object);
    expect(curve.find(({ timestamp }) => timestamp === last).equity).toBe(partial?.equity);
    expect(partial?.equity).not.toBe(10_000);
    await reader.cancel();
    await worker?.close();
    await service.close();
    await endpoint.shutdown();
  });
}
