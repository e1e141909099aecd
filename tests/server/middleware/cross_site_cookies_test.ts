import { expect } from "@std/expect";
import { describeStart } from "../../../server/banner.ts";
import { readConfig } from "../../../server/config.ts";
import { findCrossSiteOrigins } from "../../../server/middleware/cross_site_cookies.ts";
import { startTestService } from "../../support/service.ts";

Deno.test("a site is the scheme and the registrable domain", () => {
  const own = ["https://api.example.co.uk"];
  const same = ["https://app.example.co.uk", "https://example.co.uk:8443"];
  const other = ["https://other.co.uk", "http://app.example.co.uk", "https://localhost", "https://127.0.0.1"];
  expect(findCrossSiteOrigins(own, [...same, ...other])).toEqual(other);
  expect(findCrossSiteOrigins(["https://ann.github.io"], ["https://eve.github.io"])).toEqual(["https://eve.github.io"]);
  expect(findCrossSiteOrigins(["http://127.0.0.1:8000", "http://localhost:8000"], ["http://localhost:5173"])).toEqual(
    [],
  );
});

Deno.test("a trusted page of another site gets cookies that its browser keeps; every other page gets Lax ones", async () => {
  const [near, far] = ["https://app.example.com", "https://frontend.example.net"];
  const service = await startTestService("PostgreSQL", {
    BASE_URL: "https://api.example.com",
    TRUSTED_ORIGINS: `${near},${far}`,
  });
  const body = { email: "ann@example.com", password: "correct horse battery" };
  const client = service.client();
  await client.signUp(body.email, body.password);
  for (const origin of ["https://api.example.com", near]) {
    const answer = await service.client().send("POST", "/api/auth/sign-in/email", body, { origin });
    for (const cookie of answer.headers.getSetCookie()) {
      expect(cookie).toMatch(/; Secure/);
      expect(cookie).toMatch(/; SameSite=Lax/);
      expect(cookie).not.toMatch(/Partitioned/);
    }
  }
  const signedIn = await service.client().send("POST", "/api/auth/sign-in/email", body, { origin: far });
  const cookies = signedIn.headers.getSetCookie();
  expect(cookies.map((cookie) => cookie.split("=")[0])).toEqual([
    "__Secure-better-auth.session_token",
    "__Secure-hindcast.device",
  ]);
  for (const cookie of cookies) {
    expect(cookie).toMatch(/; HttpOnly.*; SameSite=None; Secure; Partitioned$/);
    expect(cookie.match(/SameSite|Secure;/g)).toHaveLength(2);
  }
  const user = service.client();
  user.cookie = cookies.map((line) => line.split(";")[0]).join("; ");
  const session = await user.get("/api/session", { origin: far });
  expect([session.status, session.headers.get("access-control-allow-origin")]).toEqual([200, far]);
  expect(session.headers.get("access-control-allow-credentials")).toBe("true");
  // The cookie is cleared only by one with the same attributes.
  const out = await user.send("POST", "/api/auth/sign-out", undefined, { origin: far });
  expect(out.headers.getSetCookie()[0]).toMatch(/Max-Age=0.*; SameSite=None; Secure; Partitioned$/);
  await service.close();
});

Deno.test("over http the start names the trusted origins that cannot hold a session", () => {
  const start = (environment: Record<string, string>) =>
    describeStart(readConfig(environment), "http://127.0.0.1:8000");
  const TRUSTED_ORIGINS = "https://frontend.example.net,http://localhost:5173";
  expect(start({ TRUSTED_ORIGINS })).toMatch(
    /^Pages of https:\/\/frontend\.example\.net cannot stay signed in: .* BASE_URL must be https\.$/m,
  );
  expect(start({ TRUSTED_ORIGINS, BASE_URL: "https://api.example.com" })).not.toMatch(/cannot stay signed in/);
  expect(start({ TRUSTED_ORIGINS: "http://localhost:5173" })).not.toMatch(/cannot stay signed in/);
});
