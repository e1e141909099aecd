/** `hindcast`: the service from a terminal. */
import { Command, CommanderError, type CommandUnknownOpts, Help } from "@commander-js/extra-typings";
import manifest from "../../deno.json" with { type: "json" };
import { completeWords, completionCommand } from "./shell_completion.ts";
import { importCommand, marketsCommand } from "./data.ts";
import { exportAccountCommand } from "./export_account.ts";
import { doctorCommand } from "./doctor.ts";
import { EXAMPLES } from "./examples.ts";
import { CommandError, EXIT, toCommandError } from "../exit_codes.ts";
import { loginCommand, logoutCommand, whoamiCommand } from "./login.ts";
import { optimizeCommand } from "./optimize.ts";
import { runCommand } from "./submit_run.ts";
import { exportCommand } from "./export.ts";
import { cancelCommand, compareCommand, listCommand, showCommand, watchCommand } from "./stored_runs.ts";
import { checkCommand } from "../strategy_check.ts";
import { warn } from "../terminal.ts";
import { newCommand } from "../strategy_new.ts";
import { tryCommand } from "../strategy_run.ts";
import { testCommand } from "../strategy_test.ts";
import { group } from "./command.ts";
import { strategyServeCommand } from "./strategy_serve.ts";
import { pushCommand, strategiesCommand } from "./strategy_commands.ts";
import { monteCarloCommand, stressCommand } from "./studies.ts";
import { universesCommand } from "./universe_commands.ts";

/** Commands that the launcher starts as processes of their own, with permissions of their own. They are named here for the help. */
const PROCESSES = {
  serve: "Serve the API and the console, and run backtests",
  worker: "Run backtests for the services on the same DATABASE_URL",
  admin: "Make a user an admin, set limits, invite, or move stored bytes",
  demo: "Show a backtest from sign-up to result, on a service of its own",
} as const;

/** Each says how it is started, where something else than the launcher called it. */
const processCommands = Object.entries(PROCESSES).map(([name, description]) =>
  new Command(name).description(description).allowUnknownOption().allowExcessArguments().action(() => {
    throw new CommandError(`Cannot start ${name} from here: call deno task hindcast ${name}`, EXIT.usage, {
      code: "USAGE",
    });
  })
);

const COMMANDS_OPTIONS = ["--url", "--json", "--no-color"];
const SHARED_OPTIONS = [...COMMANDS_OPTIONS, "--help"];

const HELP = `
Begin with:
  hindcast serve                 in one terminal; or hindcast demo, which needs no account
  hindcast login                 in another one
  hindcast markets
  hindcast run sma-cross DEMO@SAMPLE 2024-01-01 2024-07-01 -t 1h

Exit codes: 0 done, 1 refused or failed, 2 wrong command line, 3 no service (try again), 4 not signed in or not allowed,
130 interrupted. With --json, a refusal is JSON on standard error, too.`;

/** Every command. */
export function makeProgram(): CommandUnknownOpts {
  const program = new Command("hindcast").description("Backtests of trading strategies, from a terminal.")
    .version(manifest.version)
    .addHelpText("after", HELP);
  const commands: readonly CommandUnknownOpts[] = [
    loginCommand,
    logoutCommand,
    whoamiCommand,
    runCommand,
    listCommand,
    showCommand,
    watchCommand,
    compareCommand,
    exportCommand,
    exportAccountCommand,
    cancelCommand,
    optimizeCommand,
    stressCommand,
    monteCarloCommand,
    strategiesCommand,
    group("strategy", "Strategies of your own, in any language", [
      newCommand,
      checkCommand,
      tryCommand,
      testCommand,
      pushCommand,
      strategyServeCommand,
    ]),
    universesCommand,
    marketsCommand,
    importCommand,
    ...processCommands,
    doctorCommand,
    completionCommand(program),
  ];
  for (const command of commands) program.addCommand(command);
  finish(program);
  return program;
}

/** Makes a command end the process in one place, and its help like that of all others. @param words That call it. */
function finish(command: CommandUnknownOpts, words: readonly string[] = []): void {
  const path = words.join(" ");
  command.exitOverride();
  command.configureHelp({ visibleOptions: listOptions }).showHelpAfterError(
    `Read ${["hindcast", ...words, "--help"].join(" ")}`,
  );
  const lines = EXAMPLES[path] ?? [];
  if (lines.length > 0) command.addHelpText("after", ["", "Examples:", ...lines.map((line) => `  ${line}`)].join("\n"));
  for (const option of command.options) {
    // Without quotes around numbers and words.
    if (typeof option.defaultValue === "string") option.default(option.defaultValue, option.defaultValue);
  }
  for (const child of command.commands) finish(child, [...words, child.name()]);
}

/** A command's own options come before those that all have. */
function listOptions(this: Help, command: CommandUnknownOpts) {
  const all = Help.prototype.visibleOptions.call(this, command);
  const isShared = ({ long }: { readonly long?: string | undefined }) => SHARED_OPTIONS.some((name) => name === long);
  return [...all.filter((option) => !isShared(option)), ...all.filter(isShared)];
}

/** Runs a command line. @returns Its exit code. */
async function run(args: readonly string[]): Promise<number> {
  const program = makeProgram();
  if (args[0] === "complete" && args[1] === "--") {
    completeWords(program, args.slice(2));
    return EXIT.done;
  }
  try {
    await program.parseAsync([...args], { from: "user" });
    return EXIT.done;
  } catch (error) {
    // The library has said what is wrong, or printed the help that was asked for.
    if (error instanceof CommanderError) {
      const [first = ""] = args;
      if (COMMANDS_OPTIONS.includes(first)) warn(`Write ${first} after the command, as in hindcast list ${first}`);
      return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    }
    // The reader has what it wanted, as `head` does.
    if (error instanceof Deno.errors.BrokenPipe) return EXIT.done;
    const failure = toCommandError(error, "the service");
    report(failure, args.includes("--json"));
    return failure.code;
  }
}

function report({ message, details }: CommandError, isJson: boolean): void {
  const text = isJson ? JSON.stringify({ error: { ...details, message } }, null, 2) : message;
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

if (import.meta.main) Deno.exit(await run(Deno.args));
