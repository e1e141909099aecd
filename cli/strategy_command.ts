import { checkStrategy } from "./strategy_check.ts";
import { newStrategy } from "./strategy_new.ts";
import { say, stop } from "./terminal.ts";

const USAGE = `Strategies of your own, in any language.

  deno task strategy new NAME --lang rust|assemblyscript|c|python|typescript
  deno task strategy check FILE.wasm|URL [--parameters JSON]

  new      writes a working strategy into a new folder: its source, and how to build, check and register it
  check    says whether a registration would accept a WebAssembly module, or tries an endpoint, without a service

Each tells more with --help. What a module must export is in strategies/ABI.md, what an endpoint must answer in
strategies/REMOTE.md.`;

/** `deno task strategy COMMAND`. */
async function main([command, ...args]: readonly string[]): Promise<void> {
  if (command === "--help" || command === "-h") return say(USAGE);
  if (command === "check") return await checkStrategy(args);
  if (command === "new") return await newStrategy(args);
  stop(command === undefined ? USAGE : `Cannot do ${command}: the commands are new and check; --help tells more`);
}

try {
  await main(Deno.args);
} catch (error) {
  stop(error instanceof Error ? error.message : String(error));
}
