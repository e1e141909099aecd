/** Runs of Python scripts for tests, in one interpreter that begins anew with each. */
import type { Candles } from "../../../../engine/candles.ts";
import { buildInterpreter } from "../../../../workers/sandbox/python/build_interpreter.ts";
import { compilePython } from "../../../../workers/sandbox/python/compile.ts";
import { readInterpreter } from "../../../../workers/sandbox/interpreter_files.ts";
import { Interpreter } from "../../../../workers/sandbox/python/interpreter.ts";
import type { SandboxTask } from "../../../../workers/sandbox/task.ts";
import { failureOf, type Played, playScript } from "../script/scripts.ts";

await buildInterpreter();
const { program, ...frozen } = readInterpreter();
const module = new WebAssembly.Module(program);

/** A new interpreter. */
export function openInterpreter(): Interpreter {
  return new Interpreter({ ...frozen, program: module });
}

/** Runs a Python script over candles, or over candles that close at these prices. */
export async function playPython(
  source: string,
  over: Candles | readonly number[],
  options: Partial<SandboxTask> & { readonly parameters?: object } = {},
): Promise<Played> {
  const python = openInterpreter();
  return await playScript(source, over, options, (text) => Promise.resolve(compilePython(text, python)));
}

/** A script that decides with these lines. */
export function pythonDeciding(lines: string, prepare = "pass", above = ""): string {
  const indent = (text: string) => text.split("\n").map((line) => `        ${line}`).join("\n");
  return `${above}
class Own(Strategy):
    def prepare(self, candles):
${indent(prepare)}
    def decide(self, i, candles, account, orders):
${indent(lines)}
`;
}

/** The message that a script with these lines ends with; "none" when it ends well. */
export function failureOfPython(lines: string, prepare = "pass", above = ""): Promise<string> {
  return failureOf(() => playPython(pythonDeciding(lines, prepare, above), [10, 11, 12, 11, 13]));
}

/** The log of a script with these lines. */
export async function logOfPython(lines: string, prepare = "pass", above = ""): Promise<readonly string[]> {
  return (await playPython(pythonDeciding(lines, prepare, above), [10, 11, 12, 11, 13])).log;
}
