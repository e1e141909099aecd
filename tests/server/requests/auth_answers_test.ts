import { expect } from "@std/expect";
import { startTestService } from "../../support/service.ts";

const SIGN_UP = "/api/auth/sign-up/email";
const SIGN_IN = "/api/auth/sign-in/email";
const FORM = { "content-type": "application/x-www-form-urlencoded" };

Deno.test("refusals of the authentication library have the shape of every refusal", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const client = service.client();
  const known = await client.signUp();
  const account = { name: "Ann", email: "ann@example.com", password: "correct horse battery" };

  await t.step("its own words stay for its own clients", async () => {
    const wrong = await client.send("POST", SIGN_IN, { email: known, password: "wrong horse battery" });
    expect([wrong.status, wrong.at("/code"), wrong.at("/message")])
      .toEqual([401, "INVALID_EMAIL_OR_PASSWORD", "Invalid email or password"]);
    expect(wrong.at("/error")).toEqual({
      code: "INVALID_EMAIL_OR_PASSWORD",
      message: "Invalid email or password",
      issues: [],
      request_id: wrong.headers.get("x-request-id"),
    });
  });

  await t.step("a field is named by its place", async () => {
    const cases = [
      [{ ...account, email: "ann" }, 400, "VALIDATION_FAILED", "/email"],
      [{ ...account, name: 5 }, 400, "VALIDATION_FAILED", "/name"],
      [{ ...account, password: "7 chars" }, 400, "PASSWORD_TOO_SHORT", "/password"],
      [{ ...account, password: "x".repeat(129) }, 400, "PASSWORD_TOO_LONG", "/password"],
      [{ ...account, email: known }, 422, "USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL", "/email"],
      [[], 400, "VALIDATION_FAILED", ""],
    ] as const;
    for (const [body, status, code, path] of cases) {
      const refused = await client.send("POST", SIGN_UP, body);
      expect([refused.status, refused.at("/error/code")]).toEqual([status, code]);
      expect(refused.list("/error/issues")[0]).toEqual({ path, message: expect.stringMatching(/^must /) });
    }
    const two = await client.send("POST", SIGN_UP, { name: "Ann", email: 5 });
    expect(two.at("/error/issues")).toEqual([
      { path: "/email", message: "must be of type string, not 5" },
      { path: "/password", message: "is required" },
    ]);
  });

  await t.step("a path that it does not have is told as every other, and so is a method", async () => {
    for (const path of ["/api/auth", "/api/auth/", "/api/auth/nothing", `${SIGN_IN}/`, "/api/auth//sign-out"]) {
      for (const method of ["GET", "POST", "PUT", "DELETE"]) {
        const missing = await client.send(method, path);
        expect([method, path, missing.status, missing.at("/error/code")])
          .toEqual([method, path, 404, "ROUTE_NOT_FOUND"]);
        expect(missing.at("/error/message")).toBe(`Cannot find ${method} ${path}`);
      }
    }
    const cases = [["GET", SIGN_IN, "POST, OPTIONS"], ["PUT", "/api/auth/get-session", "GET, POST, HEAD, OPTIONS"]];
    for (const [method, path, allow] of cases) {
      const refused = await client.send(method!, path!);
      expect([refused.status, refused.at("/error/code"), refused.headers.get("allow")])
        .toEqual([405, "METHOD_NOT_ALLOWED", allow]);
    }
  });

  await t.step("a body of no bytes is none, whatever it is called", async () => {
    const accepted = await client.send("POST", "/api/backtests/nothing/cancel", "", FORM);
    expect([accepted.status, accepted.at("/error/code")]).toEqual([404, "BACKTEST_NOT_FOUND"]);
    expect((await client.send("POST", "/api/auth/sign-out", "", FORM)).status).toBe(200);
    expect((await client.get("/api/session")).status).toBe(401);
    const form = await client.send("POST", "/api/auth/sign-out", "a=1", FORM);
    expect([form.status, form.at("/error/code")]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
  });

  await t.step("an account has no room for more than it needs", async () => {
    const refused = await client.send("POST", SIGN_UP, { ...account, name: "x".repeat(16 * 1024) });
    expect([refused.status, refused.at("/error/code")]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });
  await service.close();
});
