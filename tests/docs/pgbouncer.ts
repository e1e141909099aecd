/** The service behind Debian's PgBouncer, as docs/operating.md sets it up: `deno task test:debian`. */
import { expect } from "@std/expect";
import { BACKTEST } from "../support/client.ts";
import { freePort } from "../support/free_port.ts";
import { type OwnPostgres, startPostgres } from "../support/postgres.ts";
import { startProcess } from "../support/process.ts";
import { readPage } from "../support/pages.ts";
import { until } from "../support/until.ts";

const [IGNORED] = /ignore_startup_parameters = \w+/.exec(await readPage("docs/operating.md"))!;
const SECRET = "a secret of at least 32 characters";
// Its own settings say so: it refuses to run as root.
const USER = "nobody";

/** @returns The address of the database behind the pooler, and what ends it. */
async function startPgBouncer(postgres: OwnPostgres, mode: "session" | "transaction") {
  const { hostname, port, username, password, pathname } = new URL(postgres.url);
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const own = freePort();
  await Deno.writeTextFile(`${folder}/users.txt`, `"${username}" "${password}"\n`);
  await Deno.writeTextFile(
    `${folder}/pgbouncer.ini`,
    [
      "[databases]",
      `* = host=${hostname} port=${port} user=${username} password=${password}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${own}`,
      "unix_socket_dir =",
      "auth_type = plain",
      `auth_file = ${folder}/users.txt`,
      `pool_mode = ${mode}`,
      "default_pool_size = 40",
      IGNORED,
      "",
    ].join("\n"),
  );
  await Deno.chmod(folder, 0o755);
  const args = [...Deno.uid() === 0 ? ["-u", USER] : [], "-q", `${folder}/pgbouncer.ini`];
  const process = new Deno.Command("/usr/sbin/pgbouncer", { args, stdout: "null", stderr: "null" }).spawn();
  await until(() =>
    Deno.connect({ hostname: "127.0.0.1", port: own }).then((each) => (each.close(), true), () => false)
  );
  const end = async () => {
    process.kill("SIGTERM");
    await process.status;
    await Deno.remove(folder, { recursive: true });
  };
  return { url: `postgres://${username}:${password}@127.0.0.1:${own}${pathname}`, end };
}

for (const mode of ["session", "transaction"] as const) {
  Deno.test(`processes start one after the other, and a wait ends with its run, behind PgBouncer in ${mode} mode`, async () => {
    const postgres = await startPostgres();
    const pooler = await startPgBouncer(postgres, mode);
    const DATABASE_URL = `${pooler.url}${mode === "transaction" ? "?prepare=false" : ""}`;
    const environment = { DATABASE_URL, BETTER_AUTH_SECRET: SECRET, LOG_LEVEL: "warning" };
    const api = await startProcess("serve", { ...environment, WORKERS: "0" });
    // Each start after the first one finds the tables made, and takes the lock all the same.
    const other = await startProcess("serve", { ...environment, WORKERS: "0" });
    const worker = await startProcess("worker", environment);
    const user = api.client();
    await user.signUp();
    for (let i = 0; i < 3; i++) {
      const submitted = await user.send("POST", "/api/backtests", {
        backtest: { ...BACKTEST, initial_balance: 1_000 + i },
      });
      const id = String(submitted.at("/backtest/id"));
      const began = performance.now();
      const answer = await user.get(`/api/backtests/${id}?wait=30`);
      expect(answer.at("/backtest/status")).toBe("completed");
      // Thirty seconds are what a wait takes that nobody told of the end.
      expect(performance.now() - began).toBeLessThan(20_000);
    }
    const said = await Promise.all([worker, other, api].map((each) => each.end("SIGTERM")));
    expect(said.map(({ code }) => code)).toEqual([0, 0, 0]);
    const isTold = said.some(({ stderr }) => /notifications do not arrive/.test(stderr));
    expect(isTold).toBe(mode === "transaction");
    await pooler.end();
    await postgres.stop();
  });
}
