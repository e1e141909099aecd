/** A service whose interpreter of Python is still being built: Python is refused by name, and taken as soon as it is there. */
import { expect } from "@std/expect";
import { fileURLToPath } from "node:url";
import { BUILD } from "../../workers/sandbox/interpreter_files.ts";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { BACKTEST } from "../support/client.ts";
import { copyFolder } from "../support/copy_folder.ts";
import { copyBuild } from "../support/newer_build.ts";
import { startProcess } from "../support/process.ts";
import { registration } from "./foreign_code.ts";

const PYTHON = `class Buys(Strategy):
    def decide(self, i, candles, account, orders):
        if i == 3: orders.buy()
`;
const TYPESCRIPT = "strategy(() => ({ decide(i, candles, account, orders) { if (i === 3) orders.buy(); } }));";

Deno.test("Python is refused by name during the first build of its interpreter, and runs after it", async () => {
  await buildInterpreter();
  const root = await copyBuild();
  const folder = `${root}/workers/sandbox/python`;
  await Deno.remove(`${folder}/dist`, { recursive: true });
  const service = await startProcess("serve", { DATA_DIR: `${root}/data`, PYTHON: "on" }, [], root);
  const user = service.client();
  await user.signUp();
  const submit = (language: "python" | "typescript", source: string) => {
    const runtime = { type: "script", language, source };
    const parameters = { ...BACKTEST.parameters, runtime };
    return user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, strategy: "mine", parameters } });
  };
  const register = () =>
    user.send("POST", "/api/strategies", {
      strategy: {
        ...registration("buys", { type: "script", language: "python", source: PYTHON }),
        parameter_schema: { type: "object", properties: {} },
      },
    });

  for (const refused of [await submit("python", PYTHON), await register()]) {
    expect([refused.status, refused.at("/error/code")]).toEqual([503, "PYTHON_NOT_READY"]);
    expect(refused.at("/error/message")).toMatch(/^Cannot run a script in Python yet: a worker is still preparing/);
  }
  const meanwhile = await submit("typescript", TYPESCRIPT);
  expect((await user.finish(String(meanwhile.at("/backtest/id")))).at("/backtest/status")).toBe("completed");

  // As the build puts it in place: whole, or not at all.
  copyFolder(fileURLToPath(BUILD), `${folder}/made`);
  await Deno.rename(`${folder}/made`, `${folder}/dist`);
  const taken = await submit("python", PYTHON);
  expect([taken.status, taken.at("/error")]).toEqual([202, undefined]);
  const ended = await user.finish(String(taken.at("/backtest/id")));
  expect([ended.at("/backtest/error"), ended.at("/backtest/status")]).toEqual([null, "completed"]);
  const registered = await register();
  expect([registered.status, registered.at("/error")]).toEqual([201, undefined]);
  await service.end("SIGTERM");
  await Deno.remove(root, { recursive: true });
});
