import { type OptionHandler, RootCommand } from "@bomb.sh/tab";
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { usageError } from "../exit_codes.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

// The library's script for bash needs a package that bash does not bring, and runs what stands on the command line.
const BASH = `# bash completion for hindcast
_hindcast() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    [[ $line == :* ]] || COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(hindcast complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _hindcast hindcast
`;

/** `hindcast complete SHELL`, and what the shells' scripts ask in turn: `hindcast complete -- WORDS`. */
export function completionCommand(program: CommandUnknownOpts) {
  return new Command("complete").description("Print what makes a shell complete commands and options")
    .argument("<shell>", SHELLS.join(", "))
    .addHelpText(
      "after",
      `\nFor bash:  source <(hindcast complete bash)\nFor zsh:   source <(hindcast complete zsh)\nFor fish:  hindcast complete fish | source`,
    )
    .action((shell) => {
      const known = SHELLS.find((name) => name === shell);
      if (known === undefined) throw usageError(`Cannot complete in ${shell}: choose one of ${SHELLS.join(", ")}`);
      if (known === "bash") return void Deno.stdout.writeSync(new TextEncoder().encode(BASH));
      describe(program).setup("hindcast", "hindcast", known);
    });
}

/** Prints the words that fit. @param words Those of the command line so far, the last one perhaps in part. */
export function completeWords(program: CommandUnknownOpts, words: readonly string[]): void {
  describe(program).parse([...words]);
}

function describe(program: CommandUnknownOpts): RootCommand {
  const root = new RootCommand();
  const add = (command: CommandUnknownOpts, path: string) => {
    const described = path === "" ? root : root.command(path, command.description());
    for (const option of command.options) {
      const name = option.long?.replace(/^--/, "");
      if (name === undefined) continue;
      const alias = option.short?.replace(/^-/, "");
      const complete: OptionHandler = (offer) => option.argChoices?.forEach((value) => offer(value, ""));
      if (option.required) described.option(name, option.description, complete, alias);
      else described.option(name, option.description, alias);
    }
    for (const child of command.commands) add(child, path === "" ? child.name() : `${path} ${child.name()}`);
  };
  add(program, "");
  return root;
}
