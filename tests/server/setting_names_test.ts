import { expect } from "@std/expect";
import { VARIABLES } from "../../server/config.ts";
import { describeMistypedSettings } from "../../server/setting_names.ts";
import { runTask } from "../support/process.ts";

Deno.test("a mistyped setting is named with the nearest right one", () => {
  const names = ["DATABASE_URI", "WORKER", "TRUSTED_PROXY", "BETTER_AUTH_SECRETS", ...VARIABLES];
  expect(describeMistypedSettings(names, VARIABLES)).toEqual([
    "BETTER_AUTH_SECRETS is no setting of Hindcast: did you mean BETTER_AUTH_SECRET?",
    "DATABASE_URI is no setting of Hindcast: did you mean DATABASE_URL?",
    "WORKER is no setting of Hindcast: did you mean WORKERS?",
  ]);
});

Deno.test("the variables of other programs are nobody's mistake", () => {
  const others = [
    "HOME",
    "HOSTNAME",
    "PATH",
    "PWD",
    "USER",
    "TERM",
    "LANG",
    "SHLVL",
    "HOSTTYPE",
    "LOGNAME",
    "COLORTERM",
  ];
  const more = ["NODE_ENV", "NO_COLOR", "DENO_DIR", "INIT_CWD", "KUBERNETES_PORT", "POSTGRES_URL", "port", "data_dir"];
  expect(describeMistypedSettings([...others, ...more], VARIABLES)).toEqual([]);
});

Deno.test("each task that reads the settings says so on standard error, and never a value", async () => {
  for (const task of ["start", "worker", "admin"] as const) {
    // The argument is refused, so that nothing starts.
    const environment = { DATABASE_URI: "postgres://user:word@db/own", DATABASE_URL: "" };
    const { stderr } = await runTask(task, ["--no-such-argument"], environment);
    expect([task, stderr]).toEqual([
      task,
      expect.stringContaining("DATABASE_URI is no setting of Hindcast: did you mean DATABASE_URL?\n"),
    ]);
    expect(stderr).not.toContain("word");
  }
});
