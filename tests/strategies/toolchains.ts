/**
 * Builds the Rust and C examples anew by the commands in their READMEs and compares them with the committed modules, byte for byte:
 * `deno task test:toolchains`. Debian's compilers are installed where they are missing, for which it must be root on Debian 12.
 */
import { expect } from "@std/expect";
import { join } from "node:path";

const EXAMPLES = new URL("../../strategies/examples/", import.meta.url).pathname;
// Debian's own, whatever else is installed: the committed modules are theirs.
const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
const PACKAGES = ["clang", "lld", "rustc", "libstd-rust-dev-wasm32"];
const PROGRAMS = ["/usr/bin/clang", "/usr/bin/wasm-ld", "/usr/bin/rustc", "/usr/lib/rustlib/wasm32-unknown-unknown"];

if (!(await Promise.all(PROGRAMS.map(exists))).every((found) => found)) {
  await run("apt-get update && apt-get install -y --no-install-recommends " + PACKAGES.join(" "), "/");
}

for (const language of ["c", "rust"]) {
  Deno.test(`the ${language} example's command gives the committed module to the byte`, async () => {
    const example = join(EXAMPLES, language);
    const folder = await Deno.makeTempDir({ prefix: "hindcast-build-" });
    try {
      for await (const { name } of Deno.readDir(example)) {
        if (!name.includes(".wasm")) await Deno.copyFile(join(example, name), join(folder, name));
      }
      const [, command] = /```sh\n(.+)\n```/.exec(await Deno.readTextFile(join(example, "README.md")))!;
      await run(command!, folder);
      const built = await Deno.readFile(join(folder, "sma_cross.wasm"));
      expect(built).toEqual(await Deno.readFile(join(example, "sma_cross.wasm")));
      await run(`cd ${folder} && sha256sum --check ${join(example, "sma_cross.wasm.sha256")}`, folder);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function run(command: string, cwd: string): Promise<void> {
  const shell = new Deno.Command("/bin/sh", {
    args: ["-c", command],
    cwd,
    env: { PATH, DEBIAN_FRONTEND: "noninteractive" },
  });
  const { code, stderr } = await shell.output();
  if (code !== 0) throw new Error(`Cannot run ${command}:\n${new TextDecoder().decode(stderr)}`);
}
