/** Templates, as a person would use them. */
import { expect } from "@std/expect";
import { runTask } from "../support/process.ts";

/** What every template does over the candles that strategies are tried on: the same rules, so the same orders. */
export const DRY_RUN = "512 candles, 26 orders";
export const PARAMETERS = '{"candles":20,"stopLoss":0.1}';

/** Writes a template into a temporary folder. */
export async function writeTemplate(lang: string): Promise<{ folder: string; readme: string } & AsyncDisposable> {
  const parent = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const folder = `${parent}/my-${lang}`;
  const ended = await runTask("strategy", ["new", folder, "--lang", lang]);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  const readme = await Deno.readTextFile(`${folder}/README.md`);
  return { folder, readme, [Symbol.asyncDispose]: () => Deno.remove(parent, { recursive: true }) };
}

/** The command in a README's block that holds a text. */
export function commandIn(readme: string, holding: string): string {
  const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text ?? "");
  const found = blocks.find((text) => text.includes(holding));
  if (found === undefined) throw new Error(`Cannot find a command with ${holding} in ${readme}`);
  return found;
}

/** Runs a command of a README in its folder. @throws Error with what it said when it fails. */
export async function runCommand(command: string, folder: string, path = Deno.env.get("PATH") ?? ""): Promise<string> {
  const shell = new Deno.Command("sh", { args: ["-euc", command], cwd: folder, env: { PATH: path } });
  const { code, stdout, stderr } = await shell.output();
  const said = new TextDecoder().decode(stdout);
  if (code !== 0) throw new Error(`Cannot run ${command}:\n${said}${new TextDecoder().decode(stderr)}`);
  return said;
}
