import { fileURLToPath } from "node:url";
import type { ChildLimits } from "./task.ts";
import { MODULE, ROOM_PAGES_MAX } from "./contracts/abi.ts";

// The check of a module caps the memory that it declares; this limit also holds without that check.
const WASM_PAGES_MAX = MODULE.memoryPagesMax + ROOM_PAGES_MAX;
// Freed blocks of so many bytes go back to the system at once. glibc would keep those below a size that it raises by itself. Where trials
// follow each other, to map their columns anew would take longer than the trials; an endpoint's answers need the memory of long logs.
const mapFrom = (kind: string) => kind.startsWith("remote") ? 2 ** 16 : 2 ** 20;

const CODE = [
  "./",
  "../common/outcome.ts",
  "../common/protocol.ts",
  "../../engine/",
  "../../research/monte_carlo/",
  "../../research/numbers/",
].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const ENTRY = fileURLToPath(new URL("./child.ts", import.meta.url));

/**
 * Starts a sandbox process with next to no permissions.
 *
 * @param kind The kind of its jobs.
 * @param address The only address, `ip:port`, that it may call; null: none.
 * @param jitless Leaves out V8's compilers, and WebAssembly with them.
 * @throws When it cannot be started.
 */
export function spawnChild(
  kind: string,
  limits: ChildLimits,
  address: string | null,
  jitless: boolean,
): Deno.ChildProcess {
  const path = Deno.env.get("PATH");
  const options: Deno.CommandOptions = {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-remote",
      "--no-npm",
      "--cached-only",
      "--no-config",
      "--no-lock",
      "--unstable-worker-options",
      `--v8-flags=--wasm-max-mem-pages=${WASM_PAGES_MAX},--expose-gc${jitless ? ",--jitless" : ""}`,
      `--allow-read=${CODE.join(",")}`,
      // It gives this up before it starts its Worker, see confine.ts.
      "--allow-ffi",
      ...(address === null ? [] : [`--allow-net=${address}`]),
      ENTRY,
      kind,
      JSON.stringify(limits),
      ...(address === null ? [] : [address]),
    ],
    clearEnv: true,
    // npm's `deno` is a script that finds its interpreter there.
    env: {
      NO_COLOR: "1",
      MALLOC_MMAP_THRESHOLD_: String(mapFrom(kind)),
      ...(path === undefined ? {} : { PATH: path }),
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  };
  try {
    return new Deno.Command("deno", options).spawn();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    // PATH has no `deno`: use the program that runs us, if we may.
    return new Deno.Command(Deno.execPath(), options).spawn();
  }
}
