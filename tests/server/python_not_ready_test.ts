/** A service whose interpreter of Python is still being built: Python is refused by name, and taken as soon as it is there. */
import { expect } from "@std/expect";
import { fileURLToPath } from "node:url";
import { BUILD } from "../../workers/sandbox/interpreter_files.ts";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { BACKTEST } from "../support/client.ts";
import { copyFolder } from "../support/copy_folder.ts";
import { copyBuild } from "../support/newer_build.ts";
import { makeWheel } from "../support/make_wheel.ts";
import { startProcess } from "../support/process.ts";
import { registration } from "./foreign_code.ts";

const PYTHON = `from bands import width
from bands.names import NAME

class Buys(Strategy):
    def decide(self, i, candles, account, orders):
        if i == 3:
            orders.buy()
            print(NAME, width(7, 3))
`;
const WHEEL = {
  "bands/__init__.py": "import sys\n\ndef width(upper, lower):\n    return upper - lower\n",
  "bands/names.py": 'NAME = "bands"\n',
  "bands/plots.py": "import a_library_that_is_not_there\n",
};
/** Wheels that no interpreter is built with: names, files, those that differ from their RECORD, and the refusal. */
const REFUSED_WHEELS = [
  [
    "bands-1.0-py3-none-any.whl",
    WHEEL,
    { "bands/names.py": 'NAME = "other"\n' },
    "bands/names.py does not have the digest",
  ],
  [
    "bands-1.0-cp313-cp313-linux_x86_64.whl",
    WHEEL,
    {},
    "its name does not end with -none-any.whl, so it has compiled parts",
  ],
  ["random-1.0-py3-none-any.whl", { "random.py": "" }, {}, "random is a module of Python's own"],
] as const;
const TYPESCRIPT = "strategy(() => ({ decide(i, candles, account, orders) { if (i === 3) orders.buy(); } }));";

async function build(root: string, wheels: string): Promise<readonly [code: number, said: string]> {
  const env = { PYTHON: "on", PYTHON_WHEELS: wheels, NO_COLOR: "1" };
  const task = new Deno.Command(Deno.execPath(), { args: ["task", "--quiet", "python:build"], cwd: root, env });
  const { code, stderr } = await task.output();
  return [code, new TextDecoder().decode(stderr)];
}

Deno.test("Python is refused by name until its interpreter has the operator's wheels, and runs with them", async () => {
  await buildInterpreter();
  const root = await copyBuild();
  const folder = `${root}/workers/sandbox/python`;
  await Deno.remove(`${folder}/dist`, { recursive: true });
  const wheels = `${root}/wheels`;
  await Deno.mkdir(wheels);
  await Deno.writeFile(`${wheels}/bands-1.0-py3-none-any.whl`, await makeWheel("bands-1.0", WHEEL));
  const settings = { DATA_DIR: `${root}/data`, PYTHON: "on", PYTHON_WHEELS: wheels };
  const service = await startProcess("serve", settings, [], root);
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

  const refuse = async () => {
    for (const refused of [await submit("python", PYTHON), await register()]) {
      expect([refused.status, refused.at("/error/code")]).toEqual([503, "PYTHON_NOT_READY"]);
      expect(refused.at("/error/message")).toMatch(/^Cannot run a script in Python yet: a worker is still preparing/);
    }
  };
  await refuse();
  const meanwhile = await submit("typescript", TYPESCRIPT);
  expect((await user.finish(String(meanwhile.at("/backtest/id")))).at("/backtest/status")).toBe("completed");

  // As the build puts it in place: whole, or not at all.
  copyFolder(fileURLToPath(BUILD), `${folder}/made`);
  await Deno.rename(`${folder}/made`, `${folder}/dist`);
  // It has no wheels.
  await refuse();
  const forged = `${root}/forged`;
  for (const [name, files, changed, said] of REFUSED_WHEELS) {
    await Deno.mkdir(forged);
    await Deno.writeFile(`${forged}/${name}`, await makeWheel("bands-1.0", files, changed));
    expect(await build(root, forged)).toEqual([
      1,
      expect.stringContaining(`PYTHON_WHEELS: ValueError: ${name}: ${said}`),
    ]);
    await Deno.remove(forged, { recursive: true });
  }
  expect(await build(root, wheels)).toEqual([0, expect.stringContaining("Built the interpreter")]);

  const taken = await submit("python", PYTHON);
  expect([taken.status, taken.at("/error")]).toEqual([202, undefined]);
  const ended = await user.finish(String(taken.at("/backtest/id")));
  expect([ended.at("/backtest/error"), ended.at("/backtest/status")]).toEqual([null, "completed"]);
  const log = await user.get(`/api/backtests/${taken.at("/backtest/id")}/log`);
  expect(log.text).toContain("bands 4");
  const registered = await register();
  expect([registered.status, registered.at("/error")]).toEqual([201, undefined]);
  await service.end("SIGTERM");
  await Deno.remove(root, { recursive: true });
});
