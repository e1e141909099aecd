/** The tables of permissions and secrets in docs/security.md agree with the tasks. */
import { expect } from "@std/expect";
import manifest from "../../deno.json" with { type: "json" };
import { readPage, rowsOf } from "../support/pages.ts";

const PAGE = await readPage("docs/security.md");

Deno.test("the list of permissions is what the commands run with", () => {
  const commands = ["start", "worker", "admin", "demo", "strategy"] as const;
  const given = commands.flatMap((command) => {
    const [, run = ""] = manifest.tasks[command].command.split(/(?:^|&& )deno run /);
    return run.replaceAll('"', "").replaceAll("$(cat server/variables.txt)", "VARIABLES").split(" ")
      // The rest says where packages come from.
      .filter((part) => /^--(allow|deny|ignore|no-prompt)/.test(part)).map((flag) => `${command} ${flag}`);
  });
  const code = "db/migrations,db/codec,engine,research,strategies,workers";
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

Deno.test("the build of the console that a start begins gets none of the listed secrets", async () => {
  const [, section = ""] = /^## Secrets\n(.*?)^## /ms.exec(PAGE) ?? [];
  const secrets = rowsOf(section).map(([name = ""]) => name).filter((name) => /^`[A-Z_]+`$/.test(name))
    .map((name) => name.slice(1, -1));
  expect(secrets.length).toBeGreaterThan(3);
  const [build = ""] = manifest.tasks.start.command.split(" & ");
  const show = "deno eval --print 'JSON.stringify(Deno.env.toObject())'";
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const tasks = { build: build.replace("deno task --quiet web:build", show) };
  await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ tasks }));
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "build"],
    cwd: folder,
    env: Object.fromEntries([...secrets, "PORT"].map((name) => [name, "a value"])),
  }).output();
  const given = Object.keys(JSON.parse(new TextDecoder().decode(stdout)));
  expect(given).toContain("PORT");
  expect(given.filter((name) => secrets.includes(name))).toEqual([]);
  await Deno.remove(folder, { recursive: true });
});
