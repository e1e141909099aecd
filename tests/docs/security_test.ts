/** The table of permissions in docs/security.md agrees with the tasks. */
import { expect } from "@std/expect";
import manifest from "../../deno.json" with { type: "json" };
import { readPage } from "../support/pages.ts";

const PAGE = await readPage("docs/security.md");

Deno.test("the list of permissions is what the commands run with", () => {
  const commands = ["start", "worker", "admin", "demo", "strategy"] as const;
  const given = commands.flatMap((command) => {
    const [, run = ""] = manifest.tasks[command].command.split(/(?:^|&& )deno run /);
    return run.replaceAll('"', "").replaceAll("$(cat server/variables.txt)", "VARIABLES").split(" ")
      // The rest says where packages come from.
      .filter((part) => /^--(allow|deny|ignore|no-prompt)/.test(part)).map((flag) => `${command} ${flag}`);
  });
  const code = "db/migrations,engine,strategies/builtin,workers";
  const rows = [...PAGE.matchAll(/^\| `(--[a-z]+-[^`]+)` +\| ([a-z, ]+?) +\|/gm)];
  const listed = rows.flatMap(([, flag = "", names = ""]) =>
    names.split(", ").map((command) => {
      // Only those that start sandboxes look for a program.
      const own = command === "admin" ? "VARIABLES" : "PATH,VARIABLES";
      return `${command} ${flag.replace("CODE", code).replace("CONSOLE", "web/dist").replace("VARIABLES", own)}`;
    })
  );
  expect(listed.toSorted()).toEqual(given.toSorted());
});
