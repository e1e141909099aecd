import { expect } from "@std/expect";
import { openPostgres } from "../../../db/client.ts";
import { findDatabaseRefusal, isDatabaseFault } from "../../../db/faults.ts";
import { PostgresClient } from "../../../db/postgres/postgres.ts";
import { PostgresPool } from "../../../db/postgres/postgres_pool.ts";
import { testServerUrl } from "../../support/database.ts";
import { startProcess } from "../../support/process.ts";
import { startPostgres } from "../../support/postgres.ts";
import { CERTIFICATE, KEY } from "./certificate.ts";

const caught = (attempt: Promise<unknown>) => attempt.then(() => null, (error: unknown) => error);

function withParameters(url: string, parameters: Record<string, string>): string {
  return `${url}?${new URLSearchParams(parameters)}`;
}

Deno.test("sslmode=require encrypts and checks the certificate, and an encrypted connection that ends is a fault", async (test) => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-tls-" });
  await Deno.writeTextFile(`${folder}/certificate.pem`, CERTIFICATE);
  const server = await startPostgres(false, { certificate: CERTIFICATE, key: KEY });
  try {
    const trusted = withParameters(server.url, { sslmode: "require", sslrootcert: `${folder}/certificate.pem` });
    const isEncrypted = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";

    await test.step("a trusted certificate is accepted, for the records and for the queue", async () => {
      const { close } = await openPostgres(trusted, 2);
      await close();
      const client = await PostgresClient.connect(trusted);
      expect(await client.query(isEncrypted)).toMatchObject([{ ssl: true }]);
      // More than one TLS record.
      const bytes = new Uint8Array(1_000_000).fill(7);
      expect(Object((await client.query("select $1::bytea as bytes", [bytes]))[0]).bytes).toEqual(bytes);
      await client.close();
    });

    await test.step("a worker may read the file, by its command's own permissions", async () => {
      const secrets = { DATABASE_URL: trusted, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
      const worker = await startProcess("worker", { ...secrets, PYTHON: "off" });
      expect((await worker.end("SIGTERM")).code).toBe(0);
      const missing = withParameters(server.url, { sslmode: "require", sslrootcert: `${folder}/missing.pem` });
      await expect(startProcess("worker", { ...secrets, DATABASE_URL: missing })).rejects.toThrow(
        `Cannot connect to PostgreSQL with sslrootcert=${folder}/missing.pem: the file cannot be read`,
      );
    });

    await test.step("a certificate that nobody trusts is refused, unless no-verify is asked for", async () => {
      const refused = await caught(PostgresClient.connect(withParameters(server.url, { sslmode: "require" })));
      expect([String(refused), findDatabaseRefusal(refused) !== undefined]).toEqual([
        expect.stringMatching(/certificate/i),
        true,
      ]);
      const client = await PostgresClient.connect(withParameters(server.url, { sslmode: "no-verify" }));
      expect(await client.query(isEncrypted)).toMatchObject([{ ssl: true }]);
      await client.close();
    });

    await test.step("a connection that ends within a transaction breaks that transaction alone", async () => {
      const pool = new PostgresPool(trusted, 1);
      const ended = pool.transaction((client) => client.query("select pg_terminate_backend(pg_backend_pid())"));
      expect(isDatabaseFault(await caught(ended))).toBe(true);
      expect(await pool.query("select 1 as one")).toMatchObject([{ one: 1 }]);
      await pool.close();
    });
  } finally {
    await server.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a server that offers no TLS is refused where it is required, and an unknown sslmode is named", async () => {
  const refused = await caught(PostgresClient.connect(withParameters(await testServerUrl(), { sslmode: "require" })));
  expect(String(refused)).toMatch(/Cannot encrypt .*: the server does not offer TLS/);
  expect([findDatabaseRefusal(refused) !== undefined, isDatabaseFault(refused)]).toEqual([true, false]);
  const unknown = PostgresClient.connect(withParameters(await testServerUrl(), { sslmode: "maybe" }));
  await expect(unknown).rejects.toThrow("sslmode=maybe");
});
