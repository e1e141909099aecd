const USAGE = `Runs Hindcast until SIGTERM or SIGINT.

  deno task start     serves on HOST and PORT, and runs backtests unless WORKERS is 0
  deno task worker    only runs backtests, for the services on the same DATABASE_URL

Environment variables set everything else: docs/operating.md lists them.`;

/** The command to run, or the text to print and the exit code. */
type Command = "serve" | "worker" | { readonly code: number; readonly text: string };

/** Reads the arguments of main.ts. */
export function readCommandLine(args: readonly string[]): Command {
  if (args.includes("--help") || args.includes("-h")) return { code: 0, text: USAGE };
  const [command, ...rest] = args;
  const isCommand = command === "serve" || command === "worker";
  if (isCommand && rest.length === 0) return command;
  return { code: 2, text: `Cannot use the argument ${JSON.stringify(isCommand ? rest[0] : command)}.\n\n${USAGE}` };
}
