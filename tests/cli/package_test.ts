/** The npm package of the command line, installed into an empty folder and started by Node. */
import { expect } from "@std/expect";
import { freePort } from "../support/free_port.ts";
import { blockIn, runLines } from "../support/pages.ts";
import { prepare } from "../support/prepare.ts";
import { listDescendants, untilGone } from "../support/processes.ts";
import { readUntil } from "../support/until.ts";

/** The folder of downloaded packages, which a machine that has started Hindcast before has. */
async function findCache(): Promise<string> {
  return JSON.parse((await runLines("deno info --json")).stdout).denoDir;
}

/** npm speaks of the machine's own settings. */
const withoutNpm = (text: string) => text.replaceAll(/^npm warn.*\n/gm, "");

Deno.test("the packed command serves the built console at once, runs a backtest, and ends on a signal", async () => {
  await prepare("console");
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const target = `${folder}/package`;
  const packed = await runLines(
    `deno task --quiet hindcast:build && cd '${folder}' && npm pack --silent "$OLDPWD/dist/hindcast"
    mkdir app && cd app && npm install --silent --no-fund --no-audit ../hindcast-*.tgz`,
  );
  expect([packed.code, withoutNpm(packed.stderr)]).toEqual([0, ""]);
  const port = String(freePort());
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ...{ XDG_CACHE_HOME: target, XDG_CONFIG_HOME: `${folder}/config`, DENO_DIR: await findCache() },
    ...{ PORT: port, PYTHON: "off", HINDCAST_URL: url, NO_COLOR: "1", DATABASE_URL: "" },
  };
  const options = { cwd: `${folder}/app`, env, stderr: "piped", stdout: "piped" } as const;
  const service = new Deno.Command("node", { args: ["node_modules/hindcast/hindcast.mjs", "serve"], ...options })
    .spawn();
  const errors = new Response(service.stderr).text();
  await readUntil(service.stdout.pipeThrough(new TextDecoderStream()).getReader(), /listens on/);
  const page = await fetch(url, { headers: { accept: "text/html" } });
  expect(await page.text()).toContain("<title>");
  const email = "ada@example.com";
  const password = "correct horse battery";
  const headers = { "content-type": "application/json", origin: url };
  const post = async (path: string, body: object, cookie = "") =>
    await fetch(`${url}${path}`, { method: "POST", headers: { ...headers, cookie }, body: JSON.stringify(body) });
  const signedUp = await post("/api/auth/sign-up/email", { name: "Ada", email, password });
  await signedUp.body?.cancel();
  const cookie = signedUp.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
  const { secret } = await (await post("/api/tokens", { token: { name: "test", scope: "run" } }, cookie)).json();
  const run = await runLines(
    `export PATH="$PWD/node_modules/.bin:$PATH"
    echo '${secret}' | hindcast login ${url} --with-token >/dev/null
    ${
      blockIn(await Deno.readTextFile(`${folder}/app/node_modules/hindcast/README.md`), "sh", "run sma").replace(
        /.*/,
        "",
      )
    }`,
    options,
  );
  expect([run.code, withoutNpm(run.stderr)]).toEqual([0, ""]);
  expect(run.stdout).toContain("Net return");
  // A template's README has the commands that its user has.
  const written = await runLines(
    `export PATH="$PWD/node_modules/.bin:$PATH"
    hindcast strategy new my-rise --lang typescript >/dev/null && cd my-rise
    sed -n '/^\`\`\`sh$/,/^\`\`\`$/p' README.md | grep -v '^\`' > commands && sh -e commands`,
    options,
  );
  expect([written.code, withoutNpm(written.stderr)]).toEqual([0, ""]);
  expect(written.stdout).toMatch(/2 of 2 tests held[^]*Accepted:[^]*Registered my-rise, version 1\.0\.0[^]*Net return/);
  const started = listDescendants(service.pid);
  service.kill("SIGTERM");
  expect((await service.status).code).toBe(0);
  await untilGone(started);
  // No build ran: what was packed is whole.
  expect(await errors).not.toContain("Building");
  // npx passes a signal to its shell alone, where the shell does not give way to the command.
  for (const script_shell of ["sh", "bash"]) {
    const npx = new Deno.Command("npx", {
      ...{ ...options, args: ["--no", "hindcast", "serve"] },
      env: { ...env, npm_config_script_shell: script_shell },
    }).spawn();
    const logged = new Response(npx.stderr).text();
    await readUntil(npx.stdout.pipeThrough(new TextDecoderStream()).getReader(), /listens on/);
    const processes = listDescendants(npx.pid);
    npx.kill("SIGTERM");
    const { code } = await npx.status;
    await untilGone(processes);
    expect(await logged).toContain('"message":"Shutting down on \\"SIGTERM\\""');
    if (script_shell === "bash") expect(code).toBe(0);
  }
  // Data lies where the command was called. Its database is the one that was packed, as its identifier says.
  const packedIn = `${folder}/app/node_modules/hindcast/project/db/migrations/new_database.tar.gz`;
  const identifiers = await runLines(
    `find '${folder}/app/.data' -perm /077
    head -c 8 '${folder}/app/.data/database/global/pg_control' | od -A n -t x8
    tar -xzOf '${packedIn}' "$(tar -tzf '${packedIn}' | grep pg_control)" | head -c 8 | od -A n -t x8`,
  );
  const [own, inPackage, ...others] = identifiers.stdout.trimEnd().split("\n");
  expect([identifiers.code, own?.length, others]).toEqual([0, 17, []]);
  expect(own).toBe(inPackage);
  await Deno.remove(folder, { recursive: true });
});
