/** The files of the interpreter: they are used only if they are there, whole and of these sources. */
import { expect } from "@std/expect";
import { pathToFileURL } from "node:url";
import manifest from "../../../deno.json" with { type: "json" };
import { refuseScript } from "../../../workers/scripts/script_mode.ts";
import { buildInterpreter } from "../../../workers/sandbox/python/build_interpreter.ts";
import {
  isWhole,
  PYODIDE_VERSION,
  readFacts,
  readInterpreter,
  readVersions,
  writeInterpreter,
} from "../../../workers/sandbox/interpreter_files.ts";

await buildInterpreter();

Deno.test("an interpreter that is missing, damaged or of other sources is not used", async () => {
  const path = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const folder = pathToFileURL(`${path}/`);
  expect(await readFacts(folder)).toBeNull();
  const { facts, program, image } = readInterpreter();
  writeInterpreter(folder, { facts, program, image });
  expect(await readFacts(folder)).toEqual(facts);
  expect(await isWhole(facts, folder)).toBe(true);
  const damaged = image.slice();
  damaged[12_345_678]! ^= 1;
  writeInterpreter(folder, { facts, program, image: damaged });
  expect(await isWhole(facts, folder)).toBe(false);
  // Its wheels belong to the key of a run.
  const wheels = [{ file: "bands-1.0-py3-none-any.whl", sha256: "0".repeat(64) }];
  expect(await readVersions(folder)).toEqual({ pyodide: PYODIDE_VERSION });
  writeInterpreter(folder, { facts: { ...facts, wheels }, program, image });
  expect(await readVersions(folder)).toEqual({ pyodide: PYODIDE_VERSION, wheels });
  writeInterpreter(folder, { facts: { ...facts, sources: "others" }, program, image });
  expect(await readFacts(folder)).toBeNull();
  await Deno.remove(path, { recursive: true });
});

Deno.test("its version is the one that is installed, and an operator may refuse Python alone", async () => {
  expect(manifest.scopes["./workers/sandbox/python/"].pyodide).toBe(`npm:pyodide@${PYODIDE_VERSION}`);
  const modes = { typescript: "on", python: "off" } as const;
  expect((await refuseScript(modes, "python"))?.outcome.code).toBe("SCRIPTS_NOT_ALLOWED");
  expect(await refuseScript(modes, "typescript")).toBeNull();
  expect(await refuseScript({ typescript: "off", python: "on" }, "python")).toBeNull();
});
