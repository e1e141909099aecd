import { dirname } from "node:path";
import { installPackages } from "./prepare.ts";

/** The repository's folder, with a slash at its end. */
export const ROOT = new URL("../..", import.meta.url).pathname;

/** A page of documentation, by its path in the repository. */
export async function readPage(path: string): Promise<string> {
  return await Deno.readTextFile(`${ROOT}${path}`);
}

/** The paths of all files of the repository, those that git does not know yet included. */
export async function listFiles(): Promise<readonly string[]> {
  const git = await new Deno.Command("git", { args: ["ls-files", "-co", "--exclude-standard"], cwd: ROOT }).output();
  return new TextDecoder().decode(git.stdout).split("\n").filter((path) => path !== "");
}

/** The first of a page's code blocks in a language that holds a text. */
export function blockIn(page: string, language: string, holding: string): string {
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const found = blocks.find(([, name, text]) => name === language && text?.includes(holding));
  if (found?.[2] === undefined) throw new Error(`Cannot find a ${language} block with ${holding} in ${page}`);
  return found[2];
}

/** The code of the `@example` before a declaration. */
export async function exampleOf(path: string, declaration: string): Promise<string> {
  const [before = ""] = (await readPage(path)).split(declaration);
  const [, code = ""] = /^ \* @example(?:(?!@example)[^])*? \* ```ts\n((?: \* ?.*\n)*?) \* ```\n \*\/\n$/m.exec(
    before.slice(before.lastIndexOf("/**")),
  ) ?? [];
  return code.replaceAll(/^ \* ?/gm, "");
}

/** The cells of those rows of a page's tables that begin with code. */
export function rowsOf(page: string): string[][] {
  return page.split("\n").filter((line) => line.startsWith("| `"))
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim().replaceAll("\\|", "|")));
}

/** Runs a page's lines in a shell that knows the runtime as `deno` and stops at the first that fails. */
export async function runLines(
  script: string,
  { cwd = ROOT, env = {} }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  await installPackages();
  const PATH = `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`;
  const shell = new Deno.Command("sh", {
    args: ["-euc", script],
    cwd,
    env: { PATH, NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await shell.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
