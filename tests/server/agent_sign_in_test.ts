/** Signing an agent in through the browser, with the official client, and what attackers tried. */
import { expect } from "@std/expect";
import { eq } from "drizzle-orm";
import { createHash } from "node:crypto";
import { openPostgres } from "../../db/client.ts";
import { removeExpiredAgentCodes } from "../../db/agent_codes.ts";
import { agentCodes, tokens, user as users } from "../../db/schema.ts";
import { SMALL_BODY_BYTES_MAX } from "../../server/middleware/body.ts";
import { AgentProgram } from "../support/agent_program.ts";
import type { Answer, TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";

const BACK = "http://127.0.0.1:33418/callback";
const VERIFIER = "v".repeat(43);

/** The query that a page of consent gets, with what differs. */
const queryOf = (clientId: unknown, more: Readonly<Record<string, string>> = {}) =>
  new URLSearchParams({
    client_id: String(clientId),
    redirect_uri: BACK,
    response_type: "code",
    code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
    code_challenge_method: "S256",
    ...more,
  }).toString();
const register = (program: TestClient, body: object = {}) =>
  program.send("POST", "/oauth/register", { client_name: "An agent", redirect_uris: [BACK], ...body });
const find = (person: TestClient, request: string) =>
  person.get(`/api/agents/request?${new URLSearchParams({ request })}`);
const answer = (person: TestClient, request: string, scope: string | null = "run", headers = {}) =>
  person.send("POST", "/api/agents/answer", { request, scope }, headers);
const codeIn = (answered: Answer) => new URL(String(answered.at("/redirect_to"))).searchParams.get("code") ?? "";
const ask = async (program: TestClient, form: Readonly<Record<string, string>>) => {
  const response = await fetch(`${program.url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      redirect_uri: BACK,
      code_verifier: VERIFIER,
      ...form,
    }),
  });
  return { status: response.status, ...await response.json() };
};

Deno.test("a program that knows only the address signs in, and has the scope that the person gave", async () => {
  const service = await startTestService();
  const person = await service.user();
  for (const [scope, tool] of [["run", "cancel"], ["read", "list_backtests"]] as const) {
    const program = new AgentProgram(`${service.url}/mcp`, BACK, "A careful agent");
    const page = await program.askPerson();
    expect(`${page.origin}${page.pathname}`).toBe(`${service.url}/oauth/authorize`);
    const sent = await person.get(page.href.slice(service.url.length));
    expect(sent.status).toBe(302);
    const consent = new URL(String(sent.headers.get("location")), service.url);
    expect([consent.origin, consent.pathname]).toEqual([service.url, "/connect"]);
    const request = consent.searchParams.get("request") ?? "";
    const found = await find(person, request);
    expect([found.at("/name"), found.at("/returns_to"), found.at("/scope")])
      .toEqual(["A careful agent", "this computer", "run"]);
    const answered = await answer(person, request, scope);
    const back = new URL(String(answered.at("/redirect_to")));
    expect([back.origin + back.pathname, back.searchParams.get("state"), back.searchParams.get("iss")])
      .toEqual([BACK, program.state(), service.url]);
    const client = await program.goOn(back.href);
    const { isError } = await client.callTool({ name: tool, arguments: {} });
    expect(isError === true).toBe(tool === "cancel");
    const refused = await client.callTool({ name: "cancel", arguments: { kind: "backtest", id: "none" } });
    expect(JSON.stringify(refused.content)).toContain(
      scope === "run" ? "BACKTEST_NOT_FOUND" : "it needs the scope run",
    );
    await client.close();
  }
  const listed = await person.get("/api/tokens");
  expect([listed.at("/tokens/0/name"), listed.at("/tokens/0/scope"), listed.at("/tokens/1/scope")])
    .toEqual(["A careful agent", "read", "run"]);
  await service.close();
});

Deno.test("the endpoint names its documents, by each name of the service", async () => {
  const service = await startTestService();
  const { port } = new URL(service.url);
  for (const origin of [service.url, `http://localhost:${port}`]) {
    const asked = await fetch(`${origin}/mcp`, { method: "POST", headers: { authorization: "Bearer hc_wrong" } });
    await asked.body?.cancel();
    const challenge = asked.headers.get("www-authenticate") ?? "";
    expect([asked.status, challenge]).toEqual([
      401,
      `Bearer error="invalid_token", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="read run"`,
    ]);
    const resource = await (await fetch(`${origin}/.well-known/oauth-protected-resource/mcp`)).json();
    expect(resource).toMatchObject({ resource: `${origin}/mcp`, authorization_servers: [service.url] });
  }
  const document = await fetch(`${service.url}/.well-known/oauth-authorization-server`);
  expect(document.headers.get("access-control-allow-origin")).toBe("*");
  expect(await document.json()).toMatchObject({
    issuer: service.url,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
  });
  await service.close();
});

Deno.test("nothing but a person's own answer makes a token", async (t) => {
  const service = await startTestService();
  const handle = await openPostgres(service.databaseUrl, 1);
  const [person, other, program] = [await service.user(), await service.user(), service.client()];
  const id = String((await register(program)).at("/client_id"));
  const query = queryOf(id, { state: "s" });

  await t.step("a stranger, a token and a page of another site cannot answer", async () => {
    expect((await answer(program, query)).status).toBe(401);
    const made = await person.send("POST", "/api/tokens", { token: { name: "x", scope: "run" } });
    const bearer = { authorization: `Bearer ${made.at("/secret")}` };
    expect((await answer(program, query, "run", bearer)).status).toBe(403);
    const forged = await answer(person, query, "run", { origin: "https://evil.example.com" });
    expect([forged.status, forged.at("/error/code")]).toEqual([403, "ORIGIN_NOT_ALLOWED"]);
    expect((await answer(person, query, "admin")).status).toBe(400);
    expect(await handle.db.$count(agentCodes)).toBe(0);
  });
  await t.step("a refusal tells the program, and gives nothing", async () => {
    const refused = new URL(String((await answer(person, query, null)).at("/redirect_to")));
    expect([refused.searchParams.get("error"), refused.searchParams.get("state")]).toEqual(["access_denied", "s"]);
    expect(await handle.db.$count(agentCodes)).toBe(0);
  });
  await t.step("nobody is sent to an address that the program did not register", async () => {
    const [header, signature] = id.split(".");
    const forged = Buffer.from(JSON.stringify(["An agent", "https://evil.example.com/"])).toString("base64url");
    for (
      const [request, field] of [
        [queryOf(id, { redirect_uri: "https://evil.example.com/" }), "redirect_uri"],
        [queryOf(id, { redirect_uri: "http://127.0.0.1:33418/callback/../other" }), "redirect_uri"],
        [queryOf(id, { redirect_uri: "http://127.0.0.1.evil.example.com/callback" }), "redirect_uri"],
        [queryOf(id, { redirect_uri: "http://user@127.0.0.1:1/callback" }), "redirect_uri"],
        [`${queryOf(id)}&redirect_uri=${encodeURIComponent("https://evil.example.com/")}`, "redirect_uri"],
        [queryOf(`${forged}.${signature}`, { redirect_uri: "https://evil.example.com/" }), "client_id"],
        [queryOf(`${header}.${signature}x`), "client_id"],
        [queryOf(`${header}.`), "client_id"],
        [queryOf("nobody"), "client_id"],
        [queryOf(id, { code_challenge_method: "plain" }), "code_challenge_method"],
        [queryOf(id, { code_challenge: "short" }), "code_challenge"],
        [queryOf(id, { response_type: "token" }), "response_type"],
        [queryOf(id, { resource: "https://other.example.com/mcp" }), "resource"],
        ["", "client_id"],
      ] as const
    ) {
      for (
        const refused of [
          await find(person, request),
          await answer(person, request),
          await answer(person, request, null),
        ]
      ) {
        expect([request, refused.status, refused.at("/error/issues/0/path")]).toEqual([request, 400, `/${field}`]);
      }
    }
    // A program on the person's computer may listen on any port.
    expect((await find(person, queryOf(id, { redirect_uri: "http://127.0.0.1:5/callback" }))).status).toBe(200);
    const long = await program.get(`/oauth/authorize?state=${"x".repeat(9000)}`);
    expect([long.status, long.at("/error")]).toEqual([400, "invalid_request"]);
  });
  await t.step("a code is good once, for its program, its address and its verifier", async () => {
    const client_id = id;
    const second = String((await register(program, { client_name: "Another" })).at("/client_id"));
    for (
      const wrong of [
        { client_id: second },
        { client_id, redirect_uri: "http://127.0.0.1:5/callback" },
        { client_id, code_verifier: "w".repeat(43) },
      ]
    ) {
      const code = codeIn(await answer(person, query));
      expect(await ask(program, { code, ...wrong })).toMatchObject({ status: 400, error: "invalid_grant" });
      // The wrong question has used it up.
      expect(await ask(program, { code, client_id })).toMatchObject({ status: 400, error: "invalid_grant" });
    }
    const code = codeIn(await answer(person, query));
    const before = await handle.db.$count(tokens);
    const both = await Promise.all([ask(program, { code, client_id }), ask(program, { code, client_id })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    expect(await handle.db.$count(tokens)).toBe(before + 1);
    const [{ access_token }] = both.filter(({ status }) => status === 200);
    const session = await program.get("/api/session", { authorization: `Bearer ${access_token}` });
    expect(session.at("/session/scope")).toBe("run");
    for (const wrong of [{ grant_type: "password" }, { grant_type: "refresh_token" }]) {
      expect(await ask(program, { client_id, code, ...wrong }))
        .toMatchObject({ status: 400, error: "unsupported_grant_type" });
    }
    expect(await ask(program, { client_id })).toMatchObject({ status: 400, error: "invalid_request" });
  });
  await t.step("a code ends, a second answer takes its place, and an account that goes takes it along", async () => {
    const [first, last] = [codeIn(await answer(person, query)), codeIn(await answer(person, query))];
    expect((await ask(program, { code: first, client_id: id })).error).toBe("invalid_grant");
    await handle.db.update(agentCodes).set({ expiresAt: new Date(0) });
    expect((await ask(program, { code: last, client_id: id })).error).toBe("invalid_grant");
    await answer(person, query);
    await handle.db.update(agentCodes).set({ expiresAt: new Date(0) });
    await removeExpiredAgentCodes(handle.db);
    expect(await handle.db.$count(agentCodes)).toBe(0);
    const banned = codeIn(await answer(other, query));
    const email = String((await other.get("/api/session")).at("/user/email"));
    await handle.db.update(users).set({ banned: true }).where(eq(users.email, email));
    expect((await ask(program, { code: banned, client_id: id })).error).toBe("invalid_grant");
  });
  await t.step("an account with all its tokens is told so on the page", async () => {
    let made = await person.send("POST", "/api/tokens", { token: { name: "x", scope: "read" } });
    const code = codeIn(await answer(person, query));
    while (made.status === 201) {
      made = await person.send("POST", "/api/tokens", { token: { name: "x", scope: "read" } });
    }
    expect((await answer(person, query)).at("/error/code")).toBe("QUOTA_EXCEEDED");
    expect(await ask(program, { code, client_id: id })).toMatchObject({
      status: 400,
      error: "access_denied",
      error_description: expect.stringMatching(/^Cannot keep another token/),
    });
  });
  await handle.close();
  await service.close();
});

Deno.test("a registration is bounded, and stores nothing", async () => {
  const service = await startTestService();
  const handle = await openPostgres(service.databaseUrl, 1);
  const program = service.client();
  const many = (count: number) => Array.from({ length: count }, (_, i) => `https://example.com/${i}`);
  for (
    const [body, error] of [
      [{ redirect_uris: [] }, "invalid_redirect_uri"],
      [{ redirect_uris: many(6) }, "invalid_redirect_uri"],
      [{ redirect_uris: [`https://example.com/${"x".repeat(300)}`] }, "invalid_redirect_uri"],
      [{ client_name: "x".repeat(101) }, "invalid_client_metadata"],
      [{ client_name: "two\nlines" }, "invalid_client_metadata"],
      [{ client_name: "\u202eevil" }, "invalid_client_metadata"],
      [{ client_name: "\ud800" }, "invalid_client_metadata"],
      [{ client_name: 5 }, "invalid_client_metadata"],
      ...[
        "javascript://example.com/%0aalert(1)",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "http://example.com/",
        "http://127.0.0.1.example.com/",
        "https://user:word@example.com/",
        "https://example.com/#x",
        "blob:https://example.com/x",
        "/callback",
        "mailto:a@example.com",
        " https://example.com/",
      ].map((uri) => [{ redirect_uris: [uri] }, "invalid_redirect_uri"] as const),
    ] as const
  ) {
    const refused = await register(program, body);
    expect([body, refused.status, refused.at("/error")]).toEqual([body, 400, error]);
    expect(String(refused.at("/error_description")).length).toBeGreaterThan(10);
  }
  for (const uri of ["https://example.com/back", "http://localhost:8/x", "http://[::1]:8/x", "cursor://editor/back"]) {
    expect([uri, (await register(program, { redirect_uris: [uri] })).status]).toEqual([uri, 201]);
  }
  const large = await program.send("POST", "/oauth/register", "x".repeat(SMALL_BODY_BYTES_MAX + 1), {
    "content-type": "application/json",
  });
  expect([large.status, large.at("/error/code")]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  expect(await handle.db.$count(agentCodes)).toBe(0);
  await handle.close();
  await service.close();
});

Deno.test("a stranger's registrations and questions count for the limit of their address", async () => {
  const service = await startTestService("PostgreSQL", { ADDRESS_REQUESTS_PER_MINUTE: "5" });
  const program = service.client();
  for (let i = 0; i < 5; i++) expect((await register(program)).status).toBe(201);
  expect((await register(program)).status).toBe(429);
  expect((await ask(program, { code: "x", client_id: "x" })).status).toBe(429);
  await service.close();
});
