import { Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { columnsOf, inColor, type Paint, say, showsColor, withoutColor, withoutCommands } from "../terminal.ts";
import { type Caller, connect } from "./caller.ts";

/** The options of every command that speaks to a service. */
interface SharedOptions {
  readonly url?: string | undefined;
  readonly json?: true | undefined;
  readonly color: boolean;
}

/** Where and how a command shows its result. */
export interface Output {
  /** Prints the service's answer and nothing else. */
  readonly isJson: boolean;
  readonly paint: Paint;
  /** Of the terminal. */
  readonly columns: number;
}

/** A command that speaks to a service. */
export function serviceCommand(name: string, description: string) {
  return new Command(name).description(description)
    .addOption(new Option("--url <address>", "the service (default: HINDCAST_URL, else where you signed in)"))
    .option("--json", "print the service's answer as JSON")
    .option("--no-color", "print without colours");
}

/** The service that a command's options name. */
export function callerFor({ url }: SharedOptions): Caller {
  return connect(url);
}

/** How a command's options want its result. */
export function outputFor({ json, color }: SharedOptions): Output {
  return { isJson: json === true, paint: color && showsColor() ? inColor : withoutColor, columns: columnsOf() };
}

/** Prints an answer: as JSON, or as a text for people. */
export function print({ isJson }: Output, answer: unknown, text: string): void {
  say(isJson ? JSON.stringify(answer, null, 2) : withoutCommands(text));
}

/** A group of commands. */
export function group(name: string, description: string, commands: readonly CommandUnknownOpts[]) {
  const parent = new Command(name).description(description);
  for (const command of commands) parent.addCommand(command);
  return parent;
}
