import { denoArguments } from "../../cli/commands.ts";
import { ROOT } from "./pages.ts";

/** A folder with a program `hindcast`, as an installed one is, and the script that makes a shell complete its words. */
export async function installForShell(shell: string): Promise<{ readonly folder: string; readonly script: string }> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const command = [Deno.execPath(), ...denoArguments("hindcast", folder)].map((word) => `'${word}'`).join(" ");
  await Deno.writeTextFile(`${folder}/hindcast`, `#!/bin/sh\ncd '${ROOT}' && exec ${command} "$@"\n`, { mode: 0o755 });
  const script = `${folder}/completion`;
  const { stdout } = await new Deno.Command(`${folder}/hindcast`, { args: ["complete", shell] }).output();
  await Deno.writeFile(script, stdout);
  return { folder, script };
}

/** Runs a shell that has the program in its path. @returns All that it printed. */
export async function askShell(folder: string, [program = "", ...args]: readonly string[]): Promise<string> {
  const env = { PATH: `${folder}:${Deno.env.get("PATH")}`, TERM: "dumb" };
  const { stdout, stderr } = await new Deno.Command(program, { args, env, cwd: folder }).output();
  const said = new TextDecoder().decode(stderr);
  return new TextDecoder().decode(stdout) + (said === "" ? "" : `\nsaid: ${said}`);
}
