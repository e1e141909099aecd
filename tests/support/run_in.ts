/**
 * Runs a program to its end.
 *
 * @param cwd The folder that it runs in.
 * @param env Added to this process's environment.
 */
export async function runIn(
  cwd: string,
  [command, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(command, { args, cwd, env }).output();
  const read = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: read(stdout), stderr: read(stderr) };
}
