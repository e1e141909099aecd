/** Looks for secrets wherever an operator reads. */
import { expect } from "@std/expect";
import { BACKTEST } from "./support/client.ts";
import { inCluster } from "./support/cluster.ts";
import { Collector } from "./support/collector.ts";
import { administer } from "./support/database.ts";

Deno.test("neither a line of the log nor an exported byte holds what is secret", () =>
  inCluster(async (start, databaseUrl) => {
    const collector = new Collector();
    const INGESTION_ADMIN_SECRET = "SECRET-of-the-operator";
    const service = await start("serve", {
      ...collector.environment("service"),
      LOG_LEVEL: "trace",
      INGESTION_ADMIN_SECRET,
    });
    const user = service.client();
    const password = "SECRET-password";
    const email = await user.signUp(`SECRET-${crypto.randomUUID()}@example.com`, password);
    const body = { email, password };
    await user.send("POST", "/api/auth/sign-in/email?token=SECRET-query", body, { authorization: "Bearer SECRET" });
    await user.send("POST", "/api/auth/sign-in/email", { ...body, password: "SECRET-wrong" });
    await user.get("/api/auth/reset-password/SECRET-path?callbackURL=SECRET");
    await user.get("/nothing/SECRET-path?key=SECRET-query");
    await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, strategy: "SECRET strategy" } });
    const submitted = await user.send("POST", "/api/backtests", { backtest: BACKTEST }, {
      "x-request-id": "of-the-caller",
    });
    const id = String(submitted.at("/backtest/id"));
    await user.finish(id);
    const made = await user.send("POST", "/api/tokens", { token: { name: "SECRET name", scope: "run" } });
    const text = String(made.at("/secret"));
    const [secretPart, mistyped] = [text.slice(19), `${text.slice(0, 30)}AAAA${text.slice(34)}`];
    const program = service.client();
    const headers = { "x-request-id": "of-the-program" };
    expect((await program.get("/api/backtests", { ...headers, authorization: `Bearer ${text}` })).status).toBe(200);
    expect((await program.get("/api/backtests", { authorization: `Bearer ${mistyped}` })).status).toBe(401);
    const imported = await user.send(
      "POST",
      "/api/admin/ingestion/import?symbol=SECRET&exchange=X&assetClass=stock&timeframe=1d",
      new TextEncoder().encode("date,open,high,low,close,volume\n2024-01-02,1,1,1,1,1\n"),
      { "content-type": "text/csv", "x-ingestion-admin-secret": INGESTION_ADMIN_SECRET },
    );
    expect(imported.status).toBe(200);
    // Faults of ours: statements fail that were sent with what a client wants, and with a session's token.
    await administer(databaseUrl, "alter table backtests rename to elsewhere");
    expect((await user.get("/api/backtests?symbol=SECRET")).status).toBe(500);
    await administer(databaseUrl, "alter table account rename to elsewhere_again");
    const signIn = await user.send("POST", "/api/auth/sign-in/email", body);
    expect([signIn.status, signIn.at("/error/code")]).toEqual([500, "INTERNAL"]);
    await administer(databaseUrl, "alter table session rename to elsewhere_too");
    expect((await user.get("/api/session")).status).toBe(500);

    const { stderr } = await service.end("SIGTERM");
    const token = user.cookie.split("=")[1]!.split(".")[0]!;
    for (const text of [stderr, collector.text]) {
      for (const secret of ["SECRET", token, email, "date,open", secretPart, mistyped.slice(19)]) {
        expect(text).not.toContain(secret);
      }
    }
    const lines: Record<string, unknown>[] = stderr.trim().split("\n").map((line) => JSON.parse(line));
    const [request] = lines.filter((line) => line.request_id === "of-the-caller");
    expect(request).toEqual({
      "@timestamp": expect.any(String),
      level: "INFO",
      logger: "hindcast.http",
      message: "request",
      method: "POST",
      route: "/api/backtests",
      status: 202,
      duration_ms: expect.any(Number),
      request_id: "of-the-caller",
      user_id: expect.any(String),
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    const ofProgram = lines.find((line) => line.request_id === "of-the-program");
    expect(ofProgram).toMatchObject({ user_id: request?.user_id, token_id: made.at("/token/id") });
    const revealed = lines.filter(({ logger, act }) => logger === "hindcast.audit" && act === "tokens.create");
    expect(revealed.map(({ user_id, outcome }) => [user_id, outcome])).toEqual([[request?.user_id, "done"]]);
    const routes = lines.filter(({ message }) => message === "request").map(({ route }) => route);
    expect(new Set(routes)).toEqual(
      new Set([
        "/api/auth/*",
        "/api/backtests",
        "/api/backtests/:id",
        "/api/admin/ingestion/import",
        "/api/session",
        "/api/tokens",
        undefined,
      ]),
    );
    // The worker's line belongs to the same trace as the request's.
    const [run] = lines.filter((line) => line.backtest_id === id);
    expect(run).toMatchObject({ message: "backtest", outcome: "completed", attempt: 1, trace_id: request?.trace_id });
    const faults = lines.filter(({ level }) => level === "ERROR");
    for (const { request_id } of faults) expect(typeof request_id).toBe("string");
    for (const table of ["backtests", "account", "session"]) {
      const told = expect.stringMatching(`^Error: Failed query: select [^]*relation "${table}" does not exist`);
      expect(faults.map(({ error }) => error)).toContainEqual(told);
    }
    await collector.close();
  }));
