/** Runs tests that belong together: `deno task hostile`, `deno task test:debian`. Arguments after the name go to `deno test`. */
import { DEBIAN_PACKAGES, installDebianPackages } from "./debian.ts";

/** Each suite's steps: test files that run side by side, or Debian's packages for those that follow. */
export const SUITES: Readonly<Record<string, readonly (readonly string[] | "packages")[]>> = {
  debian: ["packages", Object.keys(DEBIAN_PACKAGES)],
  hostile: [
    [
      "tests/hostile/through_research.ts",
      "tests/server/hostile_markets_test.ts",
      "tests/server/script_check_test.ts",
      "tests/workers/sandbox/attack_test.ts",
      "tests/workers/sandbox/confine_test.ts",
      "tests/workers/sandbox/frames_test.ts",
      "tests/workers/sandbox/process_test.ts",
      "tests/workers/sandbox/python/escapes_test.ts",
      "tests/workers/sandbox/python/process_test.ts",
      "tests/workers/sandbox/script/escapes_test.ts",
      "tests/workers/sandbox/script/host_sites_test.ts",
      "tests/workers/sandbox/script/indicator_bounds_test.ts",
      "tests/workers/sandbox/script/process_test.ts",
      "tests/workers/sandbox/takeover_test.ts",
      "tests/workers/sandbox/wasm/faults_test.ts",
      "tests/workers/sandbox/wasm/hostile_test.ts",
    ],
    "packages",
    ["tests/hostile/disk_fills.ts", "tests/hostile/through_nginx.ts"],
  ],
};

/** @returns The exit code of the first step that fails, or 0. */
async function runSuite(name: string, args: readonly string[]): Promise<number> {
  const steps = SUITES[name];
  if (steps === undefined) {
    throw new Error(`Cannot run ${JSON.stringify(name)}: name one of ${Object.keys(SUITES).join(", ")}`);
  }
  for (const step of steps) {
    if (step === "packages") {
      await installDebianPackages(Object.values(DEBIAN_PACKAGES).flat());
      continue;
    }
    const run = ["run", "--node-modules-dir=auto", "--allow-all", "tests/support/run.ts", ...step, ...args];
    const { code } = await new Deno.Command(Deno.execPath(), { args: run }).spawn().status;
    if (code !== 0) return code;
  }
  return 0;
}

if (import.meta.main) {
  const [name = "", ...args] = Deno.args;
  Deno.exit(await runSuite(name, args));
}
