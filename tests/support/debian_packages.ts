/** Looks at how Debian's packages are installed: `deno task test:debian`. */
import { expect } from "@std/expect";
import { runCommand } from "../cli/strategy_support.ts";
import { DEBIAN_PACKAGES, runApt } from "./debian.ts";

const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

Deno.test("every package of the list, with all that it needs, is one that a bare Debian offers", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.writeTextFile(`${folder}/status`, "");
  const names = Object.values(DEBIAN_PACKAGES).flat().join(" ");
  const status = `-o Dir::State::Status=${folder}/status`;
  await runCommand(`apt-get ${status} install --simulate --no-install-recommends ${names} > plan`, folder, PATH);
  const plan = await Deno.readTextFile(`${folder}/plan`);
  for (const name of names.split(" ")) expect(plan).toContain(`Inst ${name} `);
  await Deno.remove(folder, { recursive: true });
});

const HOLD = `import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()`;

Deno.test("apt-get is run again while another one holds the lock of its lists", async () => {
  const lists = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const args = ["-c", HOLD, `${lists}/lock`];
  const holder = new Deno.Command("/usr/bin/python3", { args, stdin: "piped", stdout: "piped" }).spawn();
  const printed = holder.stdout[Symbol.asyncIterator]();
  await printed.next();
  const ofLists = `-oDir::State::Lists=${lists}`;
  let tries = 0;
  await runApt(
    [ofLists, "-oDir::Etc::Sourcelist=/dev/null", "-oDir::Etc::Sourceparts=/dev/null", "update"],
    async () => {
      tries++;
      await holder.stdin.close();
      await holder.status;
    },
  );
  expect(tries).toBe(1);
  await printed.return?.();
  await Deno.remove(lists, { recursive: true });
});
