import { checkStrategy } from "./strategy_check.ts";
import { newStrategy } from "./strategy_new.ts";
import { runStrategy } from "./strategy_run.ts";
import { say, stop } from "./terminal.ts";

const USAGE = `Strategies of your own, in any language.

  deno task strategy new NAME --lang typescript|rust|assemblyscript|c|python|...
  deno task strategy check FILE.ts|FILE.wasm|URL [--parameters JSON]
  deno task strategy run FILE.ts|FILE.wasm|URL [--data FILE] [--parameters JSON] [--watch]

  new      writes a working strategy into a new folder: its source, and how to build, check and register it
  check    checks a script or a WebAssembly module as a registration does, or tries an endpoint, without a service
  run      runs a strategy over candles of yours or of a service, and shows the result

Each command has --help. strategies/SCRIPTS.md describes scripts, strategies/ABI.md specifies modules, strategies/REMOTE.md endpoints.`;

/** `deno task strategy COMMAND`. */
async function main([command, ...args]: readonly string[]): Promise<void> {
  if (command === "--help" || command === "-h") return say(USAGE);
  if (command === "check") return await checkStrategy(args);
  if (command === "run") return await runStrategy(args);
  if (command === "new") return await newStrategy(args);
  stop(command === undefined ? USAGE : `Cannot run ${command}: the commands are new, check and run; see --help`);
}

try {
  await main(Deno.args);
} catch (error) {
  stop(error instanceof Error ? error.message : String(error));
}
