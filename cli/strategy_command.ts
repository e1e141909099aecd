import { checkStrategy } from "./strategy_check.ts";
import { newStrategy } from "./strategy_new.ts";
import { say, stop } from "./terminal.ts";

const USAGE = `Strategies of your own, in any language.

  deno task strategy new NAME --lang rust|assemblyscript|c|python|typescript
  deno task strategy check FILE.wasm|URL [--parameters JSON]

  new      writes a working strategy into a new folder: its source, and how to build, check and register it
  check    checks a WebAssembly module as a registration does, or tries an endpoint, without a service

Each command has --help. strategies/ABI.md specifies modules, strategies/REMOTE.md endpoints.`;

/** `deno task strategy COMMAND`. */
async function main([command, ...args]: readonly string[]): Promise<void> {
  if (command === "--help" || command === "-h") return say(USAGE);
  if (command === "check") return await checkStrategy(args);
  if (command === "new") return await newStrategy(args);
  stop(command === undefined ? USAGE : `Cannot run ${command}: the commands are new and check; see --help`);
}

try {
  await main(Deno.args);
} catch (error) {
  stop(error instanceof Error ? error.message : String(error));
}
