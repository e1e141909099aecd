import { join } from "node:path";
import { ROOT } from "./pages.ts";

/** The parts that the service's commands read. */
const PARTS = [
  "cli",
  "db",
  "docs",
  "engine",
  "market",
  "research",
  "routers",
  "server",
  "strategies",
  "workers",
  "main.ts",
  "deno.json",
  "service.lock",
];

/**
 * Makes a build of the next version in a folder: this one with a migration more.
 *
 * @param statement The migration's SQL.
 */
export async function makeNewerBuild(statement: string): Promise<string> {
  const folder = await copyBuild();
  const journalPath = join(folder, "db/migrations/meta/_journal.json");
  const journal = JSON.parse(await Deno.readTextFile(journalPath));
  const last = journal.entries.at(-1);
  const tag = `${String(last.idx + 1).padStart(4, "0")}_newer`;
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag });
  await Deno.writeTextFile(journalPath, JSON.stringify(journal));
  await Deno.writeTextFile(join(folder, `db/migrations/${tag}.sql`), statement);
  return folder;
}

/** Copies what this build's commands read into a folder. */
export async function copyBuild(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  for (const part of PARTS) copy(join(ROOT, part), join(folder, part));
  return folder;
}

function copy(from: string, to: string): void {
  if (Deno.statSync(from).isFile) return Deno.copyFileSync(from, to);
  Deno.mkdirSync(to);
  for (const { name } of Deno.readDirSync(from)) if (name !== "node_modules") copy(join(from, name), join(to, name));
}
