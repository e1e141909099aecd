/** Templates, used as an author does. */
import { expect } from "@std/expect";
import { runLines } from "../support/pages.ts";
import { runTaskCommand } from "../support/process.ts";

/** The report of every template's dry run: equal rules give equal orders. */
export const DRY_RUN = "512 candles, 26 orders";
export const PARAMETERS = '{"candles":20,"stopLoss":0.1}';

/** Writes a template into a temporary folder. @param options Of the command, such as --portfolio. */
export async function writeTemplate(
  lang: string,
  ...options: readonly string[]
): Promise<{ folder: string; readme: string } & AsyncDisposable> {
  const parent = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const folder = `${parent}/my-${lang}`;
  const ended = await runTaskCommand("strategy", ["new", folder, "--lang", lang, ...options]);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  const readme = await Deno.readTextFile(`${folder}/README.md`);
  return { folder, readme, [Symbol.asyncDispose]: () => Deno.remove(parent, { recursive: true }) };
}

/** Runs a command of a README in its folder. @throws Error When it fails, with its output. */
export async function runCommand(command: string, folder: string, path = Deno.env.get("PATH") ?? ""): Promise<string> {
  const { code, stdout, stderr } = await runLines(command, { cwd: folder, env: { PATH: path } });
  if (code !== 0) throw new Error(`Cannot run ${command}:\n${stdout}${stderr}`);
  return stdout;
}
