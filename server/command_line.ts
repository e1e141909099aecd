const USAGE = `Runs Hindcast until SIGTERM or SIGINT.

  deno task start     serves on HOST and PORT, and runs backtests unless WORKERS is 0
  deno task worker    only runs backtests, for the services on the same DATABASE_URL

The command of the npm package calls them hindcast serve and hindcast worker. With --version, both say which release
this is, and the version of the schema that it makes.

Environment variables set everything, as in PORT=8001 hindcast serve: docs/operating.md lists them.`;

const OPTION = /^--[a-z][a-z-]*(=|$)/;

/** The command to run, or the text to print and the exit code. */
type Command = "serve" | "worker" | { readonly code: number; readonly text: string };

/** Reads the arguments of main.ts. @param version The text that `--version` prints. */
export function readCommandLine(args: readonly string[], version: string): Command {
  if (args.includes("--version")) return { code: 0, text: version };
  if (args.includes("--help") || args.includes("-h")) return { code: 0, text: USAGE };
  const [command, ...rest] = args;
  const isCommand = command === "serve" || command === "worker";
  if (isCommand && rest.length === 0) return command;
  return { code: 2, text: `${refuse((isCommand ? rest[0] : command) ?? "")}\n\n${USAGE}` };
}

/** Other programs take their settings as options. */
function refuse(argument: string): string {
  const said = `Cannot use the argument ${JSON.stringify(argument)}`;
  const variable = argument.replace(/^--/, "").replace(/=.*/, "").replaceAll("-", "_").toUpperCase();
  return OPTION.test(argument) ? `${said}: settings are environment variables, as in ${variable}=...` : `${said}.`;
}
