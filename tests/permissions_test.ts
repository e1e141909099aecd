/** Asks the runtime, under the tasks' own flags, which permissions a service and a worker have. */
import { expect } from "@std/expect";
import type { CommandName } from "../cli/commands.ts";
import { VARIABLES } from "../server/config.ts";
import { runScriptAs } from "./support/process.ts";

const ROOT = new URL("..", import.meta.url).pathname;

const QUESTIONS = {
  "listen and connect": { name: "net" },
  "write its data": { name: "write", path: "DATA/database" },
  "read its data": { name: "read", path: "DATA/database" },
  "write beside its data": { name: "write", path: "DATA/.." },
  "read the console": { name: "read", path: "web/dist" },
  "write the console": { name: "write", path: "web/dist" },
  "read the console's sources": { name: "read", path: "web/src" },
  "write its own code": { name: "write", path: "workers/queue.ts" },
  "read the system's files": { name: "read", path: "/etc/passwd" },
  "read its surroundings": { name: "read", path: ".git" },
  "read its secrets": { name: "env", variable: "BETTER_AUTH_SECRET" },
  "read others' secrets": { name: "env", variable: "AWS_SECRET_ACCESS_KEY" },
  "start a sandbox": { name: "run", command: "deno" },
  "start a shell": { name: "run", command: "sh" },
  "know its own addresses": { name: "sys", kind: "networkInterfaces" },
  "ask the system": { name: "sys" },
  "load native code": { name: "ffi" },
} as const;

async function ask(task: CommandName): Promise<string[]> {
  return JSON.parse(
    await runScriptAs(task, (data) => {
      const questions = JSON.stringify(QUESTIONS).replaceAll("DATA", data);
      return `const answers = Object.entries(${questions}).filter(([, question]) =>
        Deno.permissions.querySync(question).state === "granted").map(([name]) => name);
        await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(answers)));`;
    }),
  );
}

Deno.test("a service may listen, store its data and start sandboxes, and nothing else", async () => {
  expect(await ask("start")).toEqual([
    "listen and connect",
    "write its data",
    "read its data",
    "read the console",
    "read its secrets",
    "start a sandbox",
    "know its own addresses",
  ]);
});

Deno.test("a worker may write nothing", async () => {
  expect(await ask("worker")).toEqual([
    "listen and connect",
    "read its secrets",
    "start a sandbox",
    "know its own addresses",
  ]);
});

Deno.test("every task that reads the settings may read all their variables, and no others", async () => {
  const names = JSON.stringify([...VARIABLES, "PATH", "HOME", "AWS_SECRET_ACCESS_KEY"]);
  const script = `const may = ${names}.filter((variable) =>
      Deno.permissions.querySync({ name: "env", variable }).state === "granted");
    await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(may)));`;
  for (const task of ["start", "worker"] as const) {
    expect(JSON.parse(await runScriptAs(task, () => script))).toEqual([...VARIABLES, "PATH"]);
  }
  expect(JSON.parse(await runScriptAs("admin", () => script))).toEqual(VARIABLES);
});

Deno.test("each task that checks a user's URL has the permissions for the check", async () => {
  const script = `import { guardEndpoint } from "${ROOT}workers/egress/guard.ts";
    const { address } = await guardEndpoint("https://93.184.215.14/", { allow: new Set() });
    await Deno.stdout.write(new TextEncoder().encode(address));`;
  for (const task of ["start", "worker", "strategy"] as const) {
    expect([task, await runScriptAs(task, () => script)]).toEqual([task, "93.184.215.14"]);
  }
});

Deno.test("each task that takes jobs can make paths in a thread without permissions", async () => {
  const script = `import { makePaths } from "${ROOT}workers/monte_carlo/paths_thread.ts";
    const task = { method: "trades", runs: 3, seed: 1, ruinDrawdown: 0.5, returns: Float64Array.of(0.1, -0.1),
      account: { initialBalance: 100, periodsPerYear: 365, riskFreeRate: 0 } };
    const limits = { deadlineMs: 60_000, signal: new AbortController().signal, onProgress: () => {} };
    const outcome = await makePaths(task, limits);
    await Deno.stdout.write(new TextEncoder().encode(outcome.type + " " + outcome.message));`;
  for (const task of ["start", "worker"] as const) {
    expect([task, await runScriptAs(task, () => script)]).toEqual([task, "completed undefined"]);
  }
});
