import { expect } from "@std/expect";
import { ConfigError, readConfig, VARIABLES } from "../../server/config.ts";

Deno.test("without any variable the service is embedded, on loopback", () => {
  const config = readConfig({});
  expect(config).toMatchObject({
    host: "127.0.0.1",
    port: 8000,
    dataDir: ".data",
    runSecondsMax: 600,
    logLevel: "info",
  });
  expect(config.databaseUrl).toBeUndefined();
  expect(config.ingestionSecret).toBeUndefined();
});

Deno.test("a wrong value stops the start with one line that names the variable and what it should be", () => {
  const complaint = (environment: Record<string, string>) => {
    try {
      readConfig(environment);
    } catch (error) {
      return error instanceof ConfigError ? error.message : error;
    }
  };
  expect(complaint({ PORT: "http" })).toBe('Cannot start: PORT must be a whole number, not "http"');
  expect(complaint({ PORT: "70000" })).toBe('Cannot start: PORT must be at most 65535, not "70000"');
  expect(complaint({ WORKERS: "-1" })).toBe('Cannot start: WORKERS must be a whole number, not "-1"');
  expect(complaint({ SIGN_UP: "shut" })).toBe('Cannot start: SIGN_UP must be one of open, invite, closed, not "shut"');
  expect(complaint({ LOG_LEVEL: "loud" })).toMatch(/^Cannot start: LOG_LEVEL must be one of trace, .*, not "loud"$/);
  expect(complaint({ BASE_URL: "example.com" })).toMatch(/^Cannot start: BASE_URL must be an origin/);
  expect(complaint({ BASE_URL: "https://example.com/app" })).toMatch(/^Cannot start: BASE_URL must be an origin/);
  expect(complaint({ TRUSTED_ORIGINS: "https://a.example, b" })).toMatch(/^Cannot start: TRUSTED_ORIGINS must be/);
  expect(complaint({ DATABASE_URL: "mysql://x" })).toMatch(/^Cannot start: DATABASE_URL must be of the form postgres/);
  expect(complaint({ DATABASE_URL: "postgres://h/d" })).toMatch(/^Cannot start: BETTER_AUTH_SECRET must be set with/);
  expect(complaint({ SMTP_URL: "smtp://ada:hunter2%w@mail.example.com" })).toBe(
    "Cannot start: SMTP_URL must have %25 for each % of the user and the password",
  );
  expect(complaint({ MAIL_FROM: "hindcast@example.com" })).toBe(
    "Cannot start: SMTP_URL must be set with MAIL_FROM, or no mail is sent",
  );
  expect(complaint({ S3_NEW_BYTES: "database" })).toBe(
    "Cannot start: S3_BUCKET must be set with S3_NEW_BYTES=database, which moves out of it: unset S3_NEW_BYTES without one",
  );
  expect(readConfig({ S3_NEW_BYTES: "bucket" }).objects.newBytes).toBe("bucket");
  expect(complaint({ REMOTE_ENDPOINT_ALLOW: "127.0.0.1:99999" })).toBe(
    'Cannot start: REMOTE_ENDPOINT_ALLOW must have ports from 1 to 65535, not "127.0.0.1:99999"',
  );
  expect(complaint({ OIDC_ISSUER: "id.example.com" })).toMatch(/^Cannot start: OIDC_ISSUER must be an address such as/);
  expect(complaint({ OIDC_ISSUER: "https://id.example.com", OIDC_CLIENT_ID: "x" })).toBe(
    "Cannot start: OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together",
  );
  const deployed = {
    DENO_DEPLOYMENT_ID: "x",
    DATABASE_URL: "postgres://h/d",
    BETTER_AUTH_SECRET: "a secret of at least 32 characters",
    BASE_URL: "https://hindcast.example.com",
  };
  expect(complaint({ ...deployed, DATABASE_URL: "" })).toMatch(
    /^Cannot start: DATABASE_URL must be set on Deno Deploy/,
  );
  expect(complaint({ ...deployed, BASE_URL: "" })).toMatch(/^Cannot start: BASE_URL must be set on Deno Deploy/);
  expect(complaint({ ...deployed, WORKERS: "2" })).toMatch(
    /^Cannot start: WORKERS must be 0 on Deno Deploy.*, not "2"/,
  );
  expect(readConfig(deployed)).toMatchObject({ workers: 0, databaseConnectionsMax: 3, isDeployed: true });
  expect(readConfig({ ...deployed, DENO_DEPLOYMENT_ID: "" })).toMatchObject({
    workers: navigator.hardwareConcurrency,
    databaseConnectionsMax: 5,
    isDeployed: false,
  });
});

Deno.test("a secret that is too short is refused without being shown", () => {
  for (const name of ["BETTER_AUTH_SECRET", "INGESTION_ADMIN_SECRET"]) {
    expect(() => readConfig({ [name]: "hunter2" })).toThrow(
      new RegExp(`^Cannot start: ${name} must be at least \\d+ `),
    );
    expect(() => readConfig({ [name]: "hunter2" })).not.toThrow(/hunter2/);
  }
});

Deno.test("the environment is read by name: nothing else of it is looked at", () => {
  expect(VARIABLES).toContain("PORT");
  expect(readConfig({ UNRELATED: "x" })).toEqual(readConfig({}));
});

Deno.test("LOG_LEVEL takes warn for warning", () => {
  expect(["warn", "warning"].map((LOG_LEVEL) => readConfig({ LOG_LEVEL }).logLevel)).toEqual(["warning", "warning"]);
});
