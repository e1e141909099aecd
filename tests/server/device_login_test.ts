import { expect } from "@std/expect";
import type { Answer, TestClient } from "../support/client.ts";
import { openPostgres } from "../../db/client.ts";
import { deviceCode, user as users } from "../../db/schema.ts";
import { removeExpiredDeviceCodes } from "../../db/tokens.ts";
import { grantAdmin } from "../../db/users.ts";
import { startTestService } from "../support/service.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const PROGRAM = "nightly runs";

const begin = (program: TestClient, body: object = {}) =>
  program.send("POST", "/api/auth/device/code", { client_id: PROGRAM, scope: "run", ...body });
const ask = (program: TestClient, begun: Answer, body: object = {}) =>
  program.send("POST", "/api/auth/device/token", {
    grant_type: GRANT,
    device_code: begun.at("/device_code"),
    client_id: PROGRAM,
    ...body,
  });
const look = (user: TestClient, begun: Answer) => user.get(`/api/auth/device?user_code=${begun.at("/user_code")}`);
const answer = (user: TestClient, word: "approve" | "deny", begun: Answer) =>
  user.send("POST", `/api/auth/device/${word}`, { userCode: begun.at("/user_code") });
const wordOf = (refused: Answer) => [refused.status, refused.at("/error")];

Deno.test("a person signs a program in by a code", async (t) => {
  const service = await startTestService();
  const handle = await openPostgres(service.databaseUrl, 1);
  const [user, other, program] = [service.client(), service.client(), service.client()];
  const email = await user.signUp();
  await other.signUp();

  await t.step("the program waits, the person confirms, and the token is the account's", async () => {
    const begun = await begin(program);
    expect(begun.at("/verification_uri")).toBe(`${service.url}/device`);
    expect(begun.at("/verification_uri_complete")).toBe(`${service.url}/device?user_code=${begun.at("/user_code")}`);
    expect(wordOf(await ask(program, begun))).toEqual([400, "authorization_pending"]);
    expect(wordOf(await ask(program, begun))).toEqual([400, "slow_down"]);
    const seen = await look(user, begun);
    expect([seen.at("/status"), seen.at("/client_id"), seen.at("/scope")]).toEqual(["pending", PROGRAM, "run"]);
    expect((await answer(user, "approve", begun)).status).toBe(200);
    await handle.db.update(deviceCode).set({ lastPolledAt: null });
    const given = await ask(program, begun);
    expect([given.status, given.at("/token_type"), given.at("/scope")]).toEqual([200, "Bearer", "run"]);
    const authorization = `Bearer ${given.at("/access_token")}`;
    const session = await program.get("/api/session", { authorization });
    expect([session.at("/user/email"), session.at("/session/scope")]).toEqual([email, "run"]);
    const tokens = await user.get("/api/tokens");
    expect(tokens.at("/tokens/0/name")).toBe(PROGRAM);
    // A code is good for one token.
    expect(wordOf(await ask(program, begun))).toEqual([400, "invalid_grant"]);
  });

  await t.step("who did not open a code first cannot answer it, and a program cannot answer itself", async () => {
    const begun = await begin(program);
    expect((await answer(program, "approve", begun)).status).toBe(401);
    expect((await answer(user, "approve", begun)).status).toBe(400);
    await look(user, begun);
    const stranger = await look(other, begun);
    expect([stranger.status, stranger.at("/client_id")]).toEqual([200, undefined]);
    for (const word of ["approve", "deny"] as const) {
      const refused = await answer(other, word, begun);
      expect([refused.status, refused.at("/error/code")]).toEqual([403, "FORBIDDEN"]);
    }
    const { secret } = { secret: String((await makeToken(user)).at("/secret")) };
    const bearer = { authorization: `Bearer ${secret}` };
    const path = "/api/auth/device/approve";
    expect((await program.send("POST", path, { userCode: begun.at("/user_code") }, bearer)).status).toBe(401);
    const foreign = { origin: "https://evil.example.com" };
    const forged = await user.send("POST", path, { userCode: begun.at("/user_code") }, foreign);
    expect([forged.status, forged.at("/error/code")]).toEqual([403, "ORIGIN_NOT_ALLOWED"]);
    expect(wordOf(await ask(program, begun))).toEqual([400, "authorization_pending"]);
  });

  await t.step("a refused, an ended and another program's code give nothing", async () => {
    const refused = await begin(program);
    await look(user, refused);
    await answer(user, "deny", refused);
    expect(wordOf(await ask(program, refused))).toEqual([400, "access_denied"]);
    const taken = await begin(program);
    await look(user, taken);
    await answer(user, "approve", taken);
    expect(wordOf(await ask(program, taken, { client_id: "another" }))).toEqual([400, "invalid_grant"]);
    await handle.db.update(deviceCode).set({ expiresAt: new Date(0) });
    expect(wordOf(await ask(program, taken))).toEqual([400, "expired_token"]);
    const ended = await begin(program);
    await handle.db.update(deviceCode).set({ expiresAt: new Date(0) });
    expect((await look(user, ended)).at("/error/message")).toBe("User code has expired");
    await removeExpiredDeviceCodes(handle.db);
    expect(await handle.db.$count(deviceCode)).toBe(0);
  });

  await t.step("wrong requests are refused by name, and tie no code to an account", async () => {
    const [{ id }] = await handle.db.select({ id: users.id }).from(users).limit(1) as [{ id: string }];
    for (
      const [body, word] of [
        [{ scope: "everything" }, "invalid_scope"],
        [{ client_id: "" }, "invalid_request"],
        [{ client_id: "x".repeat(101) }, "invalid_client"],
        [{ client_id: "two\nlines" }, "invalid_client"],
        [{ user_id: id }, "invalid_request"],
        [{ user_id: "nobody" }, "invalid_request"],
      ] as const
    ) expect([body, ...wordOf(await begin(program, body))]).toEqual([body, 400, word]);
    expect(await handle.db.$count(deviceCode)).toBe(0);
  });

  await t.step("the scope admin needs the role, and the number of tokens is bounded here, too", async () => {
    const begun = await begin(program, { scope: "admin" });
    await look(user, begun);
    await answer(user, "approve", begun);
    const refused = await ask(program, begun);
    expect([refused.at("/error"), refused.at("/error_description")]).toEqual([
      "access_denied",
      "Cannot make a token of the scope admin without the role admin",
    ]);
    await grantAdmin(handle.db, email);
    const again = await begin(program, { scope: "admin" });
    await look(user, again);
    await answer(user, "approve", again);
    expect((await ask(program, again)).at("/scope")).toBe("admin");
    for (let made = await makeToken(other); made.status === 201;) made = await makeToken(other);
    const last = await begin(program);
    await look(other, last);
    await answer(other, "approve", last);
    expect((await ask(program, last)).at("/error_description")).toMatch(/^Cannot keep another token/);
  });

  await handle.close();
  await service.close();
});

function makeToken(user: TestClient): Promise<Answer> {
  return user.send("POST", "/api/tokens", { token: { name: "x", scope: "run" } });
}
