/** The bundle for machines that reach no registry, unpacked and started where only this machine answers. */
import { expect } from "@std/expect";
import { BACKTEST, TestClient } from "../support/client.ts";
import { freePort } from "../support/free_port.ts";
import { runLines } from "../support/pages.ts";
import { prepare } from "../support/prepare.ts";
import { listDescendants, untilGone } from "../support/processes.ts";
import { readUntil } from "../support/until.ts";

const PYTHON = `
class Once(Strategy):
    def decide(self, i, candles, account, orders):
        if i == 3: orders.buy()
`;

Deno.test("a bundle serves the console and runs built-in strategies and Python, without a registry", async () => {
  await prepare("console");
  await prepare("interpreter");
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const packed = await runLines(
    `deno task --quiet bundle | tee '${folder}/said' && packed=$(sed -n 's/^Wrote \\(.*\\)\\. There:.*/\\1/p' '${folder}/said') &&
      tar -xzf "$packed" -C '${folder}' && rm "$packed"`,
  );
  expect(packed.code).toBe(0);
  const [name] = /hindcast-[\w.]+-\w+-\w+(?=\.tar\.gz)/.exec(packed.stdout)!;
  const port = String(freePort());
  const nowhere = "http://127.0.0.1:9";
  const service = new Deno.Command(`${folder}/${name}/hindcast`, {
    args: ["serve"],
    cwd: folder,
    clearEnv: true,
    env: {
      ...{ PATH: "/usr/bin:/bin", HOME: `${folder}/home`, PORT: port },
      ...{ HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, NO_PROXY: "127.0.0.1" },
    },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(service.stderr).text();
  await readUntil(service.stdout.pipeThrough(new TextDecoderStream()).getReader(), /listens on/);
  const user = new TestClient(`http://127.0.0.1:${port}`);
  await user.signUp();
  expect((await user.get("/", { accept: "text/html" })).text).toContain("<title>");
  const runtime = { type: "script", language: "python", source: PYTHON };
  for (const parameters of [BACKTEST.parameters, { timeframe: "1h", runtime }]) {
    const backtest = { ...BACKTEST, parameters };
    const submitted = await user.send("POST", "/api/backtests", { backtest });
    expect(submitted.status).toBe(202);
    await user.finish(String(submitted.at("/backtest/id")));
  }
  const started = listDescendants(service.pid);
  service.kill("SIGTERM");
  expect((await service.status).code).toBe(0);
  await untilGone(started);
  expect(await errors).not.toContain("Building");
  expect(await Array.fromAsync(Deno.readDir(`${folder}/.data`))).not.toEqual([]);
  await Deno.remove(folder, { recursive: true });
});
