/** Faults of clients are not logged as errors. */
import { expect } from "@std/expect";
import { createTestDatabase } from "../support/database.ts";
import { startProcess } from "../support/process.ts";

Deno.test("malformed requests to the account routes log no error", async () => {
  const { url, drop } = await createTestDatabase("service");
  const environment = { DATABASE_URL: url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
  const service = await startProcess("serve", environment);
  const signIn = (body: string, type: string) =>
    service.client().send("POST", "/api/auth/sign-in/email", body, { "content-type": type });
  const answers = [
    await signIn("{", "application/json"),
    await signIn("{}", "text/plain"),
    await signIn("{}", "text/csv"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 415, 415]);
  const { code, stderr } = await service.end("SIGTERM");
  expect([code, stderr]).toEqual([0, ""]);
  await drop();
});

Deno.test("a client that disconnects inside its request body logs no error", async () => {
  const { url, drop } = await createTestDatabase("service");
  const secret = "a secret for ingestion tests";
  const service = await startProcess("serve", {
    DATABASE_URL: url,
    BETTER_AUTH_SECRET: "a secret of at least 32 characters",
    INGESTION_ADMIN_SECRET: secret,
    LOG_LEVEL: "info",
  });
  const user = service.client();
  await user.signUp();
  const { hostname, port } = new URL(service.url);
  for (
    const [path, type] of [
      ["/api/backtests", "application/json"],
      ["/api/auth/sign-in/email", "application/json"],
      ["/trpc/backtests.create", "application/json"],
      ["/api/admin/ingestion/import?symbol=X&exchange=Y&assetClass=stock&timeframe=1d", "text/csv"],
    ]
  ) {
    const head = [`POST ${path} HTTP/1.1`, "host: x", `cookie: ${user.cookie}`, `content-type: ${type}`];
    const rest = [`x-ingestion-admin-secret: ${secret}`, "content-length: 1000", "", '{"date,'];
    using connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(new TextEncoder().encode([...head, ...rest].join("\r\n")));
  }
  // Requests are logged in the order of their ends: the line of a later request follows all of them.
  await user.get("/api/session");
  const { stderr } = await service.end("SIGTERM");
  const lines: Record<string, unknown>[] = stderr.trim().split("\n").map((line) => JSON.parse(line));
  const cut = lines.filter(({ method, status }) => method === "POST" && status !== 200);
  expect(cut.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  expect(lines.filter(({ level }) => level === "ERROR")).toEqual([]);
  await drop();
});
