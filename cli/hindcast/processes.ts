/** Commands that the launcher starts as processes of their own, with permissions of their own. They are named here for the help. */
import { Command } from "@commander-js/extra-typings";
import { CommandError, EXIT } from "../exit_codes.ts";

const PROCESSES = {
  serve: "Serve the API and the console, and run backtests",
  worker: "Run backtests for the services on the same DATABASE_URL",
  admin: "Make a user an admin",
  demo: "Show a backtest from sign-up to result, on a service of its own",
} as const;

/** Each says how it is started, where something else than the launcher called it. */
export const processCommands = Object.entries(PROCESSES).map(([name, description]) =>
  new Command(name).description(description).allowUnknownOption().allowExcessArguments().action(() => {
    throw new CommandError(`Cannot start ${name} from here: call deno task hindcast ${name}`, EXIT.usage, {
      code: "USAGE",
    });
  })
);
