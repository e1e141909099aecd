import { runCommand } from "../cli/strategy_support.ts";

/**
 * Installs Debian's packages where one of the programs is missing.
 *
 * @throws Error with the command to run when the tests do not run as root.
 */
export async function installPackages(packages: readonly string[], programs: readonly string[]): Promise<void> {
  const found = await Promise.all(programs.map((path) => Deno.stat(path).then(() => true, () => false)));
  if (found.every((one) => one)) return;
  const install = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(" ")}`;
  if (Deno.uid() !== 0) {
    throw new Error(`Cannot install Debian's packages without being root. Run, as root: ${install}`);
  }
  await runCommand(`export DEBIAN_FRONTEND=noninteractive; ${install}`, "/", "/usr/sbin:/usr/bin:/sbin:/bin");
}
