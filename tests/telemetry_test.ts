/** An operator's view of a cluster: traces and metrics as a collector receives them. */
import { expect } from "@std/expect";
import { BACKTEST } from "./support/client.ts";
import { inCluster } from "./support/cluster.ts";
import { Collector, type Received } from "./support/collector.ts";
import { administer } from "./support/database.ts";
import { freePort } from "./support/free_port.ts";
import { readPage, ROOT } from "./support/pages.ts";
import { listChildren } from "./support/processes.ts";
import { withProvider } from "./support/provider.ts";

const KIND = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;
Deno.test("a backtest is one trace from its request to its result, through two processes", () =>
  inCluster(async (start, databaseUrl) => {
    const collector = new Collector();
    const api = await start("serve", { WORKERS: "0", ...collector.environment("api") });
    const user = api.client();
    await user.signUp();
    // A caller that traces goes before.
    const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
    const submitted = [];
    for (const headers of [{}, {}, { traceparent }]) {
      submitted.push(await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, fresh: true } }, headers));
    }
    const ids = submitted.map((answer) => String(answer.at("/backtest/id")));

    const depth = (status: string) => collector.value("api", "hindcast.queue.depth", { "hindcast.status": status });
    await collector.until(() => depth("queued") === 3 ? true : undefined);
    expect(depth("running")).toBe(0);
    const age = await collector.until(() => collector.value("api", "hindcast.queue.age") || undefined);
    expect(age).toBeLessThan(60);

    // The trace context of a job is checked before use.
    const damaged = String(
      (await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, fresh: true } })).at("/backtest/id"),
    );
    const data = `jsonb_set(data, '{traceparent}', '"00-${"zz".repeat(16)}-00-01"')`;
    await administer(databaseUrl, `update pgboss.job set data = ${data} where id = '${damaged}'`);

    const worker = await start("worker", collector.environment("worker"));
    for (const id of [...ids, damaged]) expect((await user.finish(id)).at("/backtest/status")).toBe("completed");
    await collector.until(() => depth("queued") === 0 && depth("running") === 0 ? true : undefined);
    const ended = { "hindcast.outcome": "completed", "hindcast.strategy.kind": "builtin" };
    const runs = () => collector.value("worker", "hindcast.backtest.duration", ended);
    await collector.until(() => runs() === 4 ? true : undefined);
    const accepted = {
      "http.request.method": "POST",
      "http.response.status_code": "202",
      "http.route": "/api/backtests",
      "network.protocol.version": "1.1",
      "url.scheme": "http",
    };
    const requests = () => collector.value("api", "http.server.request.duration", accepted);
    await collector.until(() => requests() === 4 ? true : undefined);
    // Spans that are still to be exported are exported at the end.
    for (const process of [worker, api]) await process.end("SIGTERM");

    const span = (wanted: Partial<Received>, id?: string) => {
      const found = collector.spans.filter((one) =>
        one.name === wanted.name && (id === undefined || one.attributes["messaging.message.id"] === id) &&
        (wanted.parentSpanId === undefined || one.parentSpanId === wanted.parentSpanId)
      );
      expect([wanted, found.length]).toEqual([wanted, 1]);
      return found[0]!;
    };
    for (const [i, id] of ids.entries()) {
      const sent = span({ name: "send backtests" }, id);
      const processed = span({ name: "process backtests" }, id);
      const submission = collector.spans.find(({ spanId }) => spanId === sent.parentSpanId);
      expect(submission).toMatchObject({ name: "submit", kind: KIND.internal, service: "api" });
      const request = collector.spans.find(({ spanId }) => spanId === submission?.parentSpanId);
      expect(request).toMatchObject({ name: "POST /api/backtests", kind: KIND.server, service: "api" });
      expect(request?.attributes).toMatchObject({
        "http.route": "/api/backtests",
        "http.response.status_code": "202",
        "hindcast.request.id": submitted[i]!.headers.get("x-request-id"),
      });
      expect(sent).toMatchObject({ kind: KIND.producer, service: "api", traceId: request?.traceId });
      expect(processed).toMatchObject({
        kind: KIND.consumer,
        service: "worker",
        traceId: request?.traceId,
        parentSpanId: sent.spanId,
      });
      expect(processed.attributes).toMatchObject({
        "hindcast.outcome": "completed",
        "hindcast.strategy.kind": "builtin",
        "messaging.destination.name": "backtests",
      });
      const received = span({ name: "receive backtests" }, id);
      expect(received).toMatchObject({ kind: KIND.client, service: "worker", parentSpanId: sent.spanId });
      expect(received.endMs).toBeGreaterThan(received.startMs);
      for (const name of ["claim", "load candles", "simulate", "store"]) {
        const part = span({ name, parentSpanId: processed.spanId });
        expect(part).toMatchObject({ kind: KIND.internal, service: "worker", traceId: request?.traceId });
      }
      const simulated = span({ name: "simulate", parentSpanId: processed.spanId });
      const stages = ["run", "check integrity", "encode"];
      const [ran, checked, encoded] = stages.map((name) => span({ name, parentSpanId: simulated.spanId }));
      expect(ran?.startMs).toBeGreaterThan(simulated.startMs - 1);
      expect(ran?.endMs).toBe(checked?.startMs);
      expect(checked?.endMs).toBe(encoded?.startMs);
      expect(encoded?.endMs).toBeLessThan(simulated.endMs + 1);
    }
    expect(collector.spans.find(({ spanId }) => spanId === "cd".repeat(8))).toBeUndefined();
    expect(span({ name: "send backtests" }, ids[2]).traceId).toBe("ab".repeat(16));
    const alone = span({ name: "process backtests" }, damaged);
    expect([alone.parentSpanId, alone.traceId === span({ name: "send backtests" }, damaged).traceId]).toEqual([
      "",
      false,
    ]);
    await collector.close();
  }));

Deno.test("killed sandboxes and limited providers are counted, and neither is told more than it needs", () =>
  inCluster(async (start) => {
    const collector = new Collector();
    const asked: Headers[] = [];
    let refusals = 0;
    const silent = Promise.withResolvers<void>();
    let called = Promise.withResolvers<void>();
    // A strategy that never answers, and an exchange that has had enough.
    const handle = async (url: URL, request: Request) => {
      asked.push(request.headers);
      if (url.pathname !== "/strategy") {
        refusals++;
        return new Response(null, { status: 429, headers: { "retry-after": "60" } });
      }
      called.resolve();
      await silent.promise;
      return new Response(null);
    };
    const kills = (reason: string) =>
      collector.value("service", "hindcast.sandbox.kills", { "hindcast.reason": reason });
    const calls = (outcome: string) =>
      collector.value("service", "hindcast.provider.requests", {
        "hindcast.provider": "Binance",
        "hindcast.outcome": outcome,
      });
    await withProvider(handle, async (baseUrl) => {
      const service = await start("serve", {
        ...collector.environment("service"),
        REMOTE_ENDPOINT_ALLOW: new URL(baseUrl).host,
        BINANCE_BASE_URL: baseUrl,
        // Longer than a busy machine needs to begin a run and to cancel it.
        RUN_SECONDS_MAX: "12",
      });
      const user = service.client();
      await user.signUp();
      const runtime = { type: "remote", endpoint: `${baseUrl}/strategy`, timeoutMs: 30_000 };
      const parameters = { timeframe: "1h", runtime };
      const submitted = await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, parameters } });
      await called.promise;
      const environments = await readEnvironments(service.pid);
      expect(environments.length).toBeGreaterThan(0);
      for (const environment of environments) expect(environment).not.toMatch(/OTEL|SECRET|DATABASE/);
      const done = await user.finish(submitted.at("/backtest/id"));
      expect(done.at("/backtest/error/code")).toBe("STRATEGY_TIMED_OUT");
      called = Promise.withResolvers();
      const again = await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, parameters } });
      await called.promise;
      await user.send("POST", `/api/backtests/${again.at("/backtest/id")}/cancel`);
      await collector.until(() => kills("stopped"));

      const ticks = "/api/market-data/ticks?symbol=BTCUSDT&startDate=2024-01-01&endDate=2024-01-02&assetClass=crypto";
      for (let i = 0; i < 2; i++) {
        const answer = await user.get(ticks, { baggage: "from=a-client" });
        expect([answer.status, answer.at("/error/code")]).toEqual([429, "PROVIDER_RATE_LIMITED"]);
      }
      silent.resolve();
      await collector.until(() => calls("held_back"));
      await service.end("SIGTERM");
    });
    const ended = {
      "hindcast.outcome": "failed",
      "hindcast.strategy.kind": "remote",
      "error.type": "STRATEGY_TIMED_OUT",
    };
    expect(collector.value("service", "hindcast.backtest.duration", ended)).toBe(1);
    expect([kills("deadline"), kills("stopped")]).toEqual([1, 1]);
    // After the first refusal the exchange is left alone for as long as it said.
    expect([calls("rate_limited"), calls("held_back"), refusals]).toEqual([1, 1, 1]);
    for (const headers of asked) expect(headers.get("baggage")).toBeNull();
    await collector.close();
  }));

/** The environments of a process's children. */
async function readEnvironments(pid: number): Promise<string[]> {
  return await Promise.all(listChildren(pid).map((child) => Deno.readTextFile(`/proc/${child}/environ`)));
}

Deno.test("a collector that answers no more does not keep a process from ending", () =>
  inCluster(async (start) => {
    const collector = new Collector();
    const service = await start("serve", collector.environment("service"));
    await service.client().signUp();
    const answerAgain = collector.fallSilent();
    await service.client().get("/api/health");
    const begun = performance.now();
    await service.end("SIGTERM");
    expect(performance.now() - begun).toBeLessThan(60_000);
    answerAgain();
    await collector.close();
  }));

Deno.test("each process serves its metrics for Prometheus, under the names that dashboard and alerts ask for", () =>
  inCluster(async (start) => {
    const [first, second] = [`127.0.0.1:${freePort()}`, `127.0.0.1:${freePort()}`];
    const api = await start("serve", { WORKERS: "0", METRICS_ADDRESS: first });
    const worker = await start("worker", { METRICS_ADDRESS: second });
    const user = api.client();
    await user.signUp();
    await user.finish(String((await user.send("POST", "/api/backtests", { backtest: BACKTEST })).at("/backtest/id")));
    await user.send("FROG", "/api/session");
    const [ofApi, ofWorker] = await Promise.all([first, second].map(async (address) => {
      const answers = await Promise.all([1, 2].map(() => fetch(`http://${address}/metrics`)));
      return await Promise.all(answers.map((answer) => answer.text())).then(([text = ""]) => text);
    }));
    expect(ofApi).toMatch(/^hindcast_queue_depth\{hindcast_status="queued",.*\} 0$/m);
    expect(ofApi).toMatch(
      /^http_server_request_duration_count\{.*status_code="202",http_route="\/api\/backtests".*\} 1$/m,
    );
    expect(ofApi).toMatch(/http_request_method="_OTHER"/);
    expect(ofApi).not.toMatch(/FROG/);
    expect(ofWorker).toMatch(/^hindcast_backtest_duration_count\{hindcast_outcome="completed",.*\} 1$/m);
    expect(ofWorker).toMatch(/^process_cpu_time_total\{cpu_mode="user",.*\} [\d.]+$/m);
    const others = [fetch(`http://${first}/api/session`), fetch(`http://${first}/metrics`, { method: "POST" })];
    for (const [i, answer] of (await Promise.all(others)).entries()) {
      expect(answer.status).toBe([404, 405][i]!);
      await answer.body?.cancel();
    }

    // The page has what happened; the names of the rest are those of the table.
    const table = [...(await readPage("docs/operating.md")).matchAll(/^\| `(hindcast\.[\w.]+)` /gm)]
      .map(([, name]) => name!.replaceAll(".", "_"));
    expect(table.length).toBeGreaterThan(5);
    const pages = `${ofApi}${ofWorker}`;
    for (const name of await listAskedMetrics()) {
      const bare = name.replace(/_(bucket|count|total)$/, "");
      expect([name, table.includes(bare) || pages.includes(`\n${name}{`)]).toEqual([name, true]);
    }

    const refuse = async (more: Record<string, string>) => {
      const env = {
        DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
        BETTER_AUTH_SECRET: "a secret of at least 32 characters",
        METRICS_ADDRESS: first,
        ...more,
      };
      const args = ["run", "--allow-all", "main.ts", "worker"];
      const { code, stderr } = await new Deno.Command(Deno.execPath(), { args, env, cwd: ROOT }).output();
      return [code, new TextDecoder().decode(stderr)];
    };
    expect(await refuse({})).toEqual([1, expect.stringMatching(/^Cannot start: METRICS_ADDRESS .*in use.*\n$/)]);
    expect(await refuse({ OTEL_DENO: "true" })).toEqual([
      1,
      expect.stringContaining("unset METRICS_ADDRESS or OTEL_DENO"),
    ]);
    expect(await refuse({ METRICS_ADDRESS: "9464" })).toEqual([
      1,
      expect.stringMatching(/host:port, such as 127.0.0.1:9464/),
    ]);
    for (const process of [worker, api]) await process.end("SIGTERM");
  }));

/** The metrics that the files of deploy/ name. */
async function listAskedMetrics(): Promise<Set<string>> {
  const texts = await Promise.all(["deploy/alerts.yaml", "deploy/grafana.json"].map(readPage));
  return new Set(
    texts.join("\n").match(/\b(hindcast|http|process)_[a-z_]+(?=[{[)\s]|\\?")/g)?.filter((name) =>
      !/^(hindcast_(status|outcome|provider|reason)|http_(request_method|response_status_code|route))$/.test(name)
    ),
  );
}
