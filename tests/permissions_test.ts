/** What a service and a worker may do is what the README says: asked of the runtime itself, under the tasks' own flags. */
import { expect } from "@std/expect";
import { taskArguments } from "../cli/service.ts";

const ROOT = new URL("..", import.meta.url).pathname;

const QUESTIONS = {
  "listen and connect": { name: "net" },
  "write its data": { name: "write", path: "DATA/database" },
  "read its data": { name: "read", path: "DATA/database" },
  "write beside its data": { name: "write", path: "DATA/.." },
  "write its own code": { name: "write", path: "workers/queue.ts" },
  "read the system's files": { name: "read", path: "/etc/passwd" },
  "read its surroundings": { name: "read", path: ".git" },
  "read its secrets": { name: "env", variable: "BETTER_AUTH_SECRET" },
  "read others' secrets": { name: "env", variable: "AWS_SECRET_ACCESS_KEY" },
  "start a sandbox": { name: "run", command: "deno" },
  "start a shell": { name: "run", command: "sh" },
  "ask the system": { name: "sys" },
  "load native code": { name: "ffi" },
} as const;

async function ask(task: "start" | "worker"): Promise<string[]> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const data = `${folder}/data`;
  const questions = JSON.stringify(QUESTIONS).replaceAll("DATA", data);
  const script = `const answers = Object.entries(${questions}).filter(([, question]) =>
    Deno.permissions.querySync(question).state === "granted").map(([what]) => what);
    await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(answers)));`;
  await Deno.writeTextFile(`${folder}/ask.ts`, script);
  const args = taskArguments(task, data).map((argument) => argument === "main.ts" ? `${folder}/ask.ts` : argument);
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["run", ...args.slice(1)], cwd: ROOT }).output();
  await Deno.remove(folder, { recursive: true });
  return JSON.parse(new TextDecoder().decode(stdout));
}

Deno.test("a service may listen, keep its data and start sandboxes, and nothing else", async () => {
  expect(await ask("start")).toEqual([
    "listen and connect",
    "write its data",
    "read its data",
    "read its secrets",
    "start a sandbox",
  ]);
});

Deno.test("a worker may write nothing", async () => {
  expect(await ask("worker")).toEqual(["listen and connect", "read its secrets", "start a sandbox"]);
});
