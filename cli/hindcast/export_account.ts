import { join, resolve } from "node:path";
import { z } from "zod";
import { invocationFolder } from "../invocation.ts";
import { say } from "../terminal.ts";
import type { Caller } from "./caller.ts";
import { callerFor, type Output, outputFor, print, serviceCommand } from "./command.ts";

/** The lists of what a user has, which the service sends whole: the file's name, the path, and the list's name in the answer. */
const LISTS = [
  { name: "backtests", path: "/api/backtests", of: exportBacktest },
  { name: "optimizations", path: "/api/optimizations", of: exportOptimization },
  { name: "monte-carlo", path: "/api/monte-carlo", of: exportMonteCarlo },
  { name: "stress-tests", path: "/api/stress-tests", of: () => [] },
  { name: "strategies", path: "/api/strategies", of: exportStrategy },
  { name: "universes", path: "/api/universes", of: exportUniverse },
  { name: "shares", path: "/api/shares?limit=200", of: () => [] },
] as const;

const recordSchema = z.looseObject({
  id: z.string().optional(),
  slug: z.string().optional(),
  status: z.string().optional(),
  is_owner: z.boolean().optional(),
});
type Item = z.infer<typeof recordSchema>;
const listSchema = z.record(z.string(), z.unknown()).transform((answer, context) => {
  const list = Object.values(answer).find(Array.isArray);
  if (list === undefined) context.addIssue("has no list");
  return z.array(recordSchema).parse(list ?? []);
});
const versionsSchema = z.object({
  versions: z.array(z.looseObject({ version: z.union([z.string(), z.number()]), sha256: z.string().nullish() })),
});

/** A file of the export, below its folder, and the path that gives it. */
interface Wanted {
  readonly file: string;
  readonly path: string;
}

/** `hindcast export-account`. */
export const exportAccountCommand = serviceCommand(
  "export-account",
  "Write all that your account has into a folder: runs with their tables, strategies, universes, links",
)
  .argument("<folder>", "the folder; files that are there already are kept, so that an interrupted export goes on")
  .action(async (given, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const folder = resolve(invocationFolder(), given);
    const files = await exportAll(caller, folder, output);
    print(output, { folder, files }, `Wrote ${files} files to ${folder}.`);
  });

/** @returns How many files the export has. */
async function exportAll(caller: Caller, folder: string, output: Output): Promise<number> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  let count = await fetchFiles(caller, folder, [{ file: "account.json", path: "/api/session" }]);
  for (const { name, path, of } of LISTS) {
    // The list is read anew: runs may have come since an interrupted export.
    await fetchFile(caller, folder, { file: `${name}.json`, path });
    const items = listSchema.parse(JSON.parse(await Deno.readTextFile(join(folder, `${name}.json`))))
      .filter((item) => item.is_owner !== false);
    if (!output.isJson) say(`${name}: ${items.length}`);
    count++;
    for (const item of items) count += await fetchFiles(caller, folder, await of(item, caller));
  }
  return count;
}

function exportBacktest({ id, status }: Item): Wanted[] {
  const own = { folder: `backtests/${id}`, path: `/api/backtests/${id}` };
  const record = { file: `${own.folder}/backtest.json`, path: own.path };
  if (status !== "completed") return [record];
  const tables = ["trades", "orders", "equity"].map((table) => ({
    file: `${own.folder}/${table}.csv`,
    path: `${own.path}/${table}?format=csv`,
  }));
  return [record, ...tables, { file: `${own.folder}/log.txt`, path: `${own.path}/log` }];
}

function exportOptimization({ id }: Item): Wanted[] {
  const path = `/api/optimizations/${id}`;
  return [
    { file: `optimizations/${id}/optimization.json`, path },
    { file: `optimizations/${id}/trials.csv`, path: `${path}/trials?format=csv` },
  ];
}

function exportMonteCarlo({ id, status }: Item): Wanted[] {
  const path = `/api/monte-carlo/${id}`;
  const tables = status === "completed" ? ["curves", "paths"] : [];
  return [
    { file: `monte-carlo/${id}/monte_carlo.json`, path },
    ...tables.map((table) => ({ file: `monte-carlo/${id}/${table}.csv`, path: `${path}/${table}?format=csv` })),
  ];
}

/** A strategy with all its versions and their modules; the sources of scripts are in the versions' settings. */
async function exportStrategy({ slug }: Item, caller: Caller): Promise<Wanted[]> {
  const path = `/api/strategies/${encodeURIComponent(slug ?? "")}`;
  const { versions } = versionsSchema.parse(await (await caller.send(`${path}/versions`)).json());
  const modules = versions.filter(({ sha256 }) => typeof sha256 === "string").map(({ version }) => ({
    file: `strategies/${slug}/${version}.module`,
    path: `${path}/versions/${encodeURIComponent(version)}/artifact`,
  }));
  return [
    { file: `strategies/${slug}/strategy.json`, path },
    { file: `strategies/${slug}/versions.json`, path: `${path}/versions` },
    ...modules,
  ];
}

function exportUniverse({ slug }: Item): Wanted[] {
  const path = `/api/universes/${encodeURIComponent(slug ?? "")}`;
  return [
    { file: `universes/${slug}/universe.json`, path },
    { file: `universes/${slug}/versions.json`, path: `${path}/versions` },
    { file: `universes/${slug}/members.csv`, path: `${path}/members?format=csv` },
  ];
}

async function fetchFiles(caller: Caller, folder: string, files: readonly Wanted[]): Promise<number> {
  for (const wanted of files) {
    const isThere = await Deno.stat(join(folder, wanted.file)).then(() => true, () => false);
    if (!isThere) await fetchFile(caller, folder, wanted);
  }
  return files.length;
}

/** Fetches a file, which is there when all of it is. */
async function fetchFile(caller: Caller, folder: string, { file, path }: Wanted): Promise<void> {
  const target = join(folder, file);
  await Deno.mkdir(join(target, ".."), { recursive: true });
  const answer = await caller.send(path);
  const part = await Deno.open(`${target}.part`, { write: true, create: true, truncate: true });
  await (answer.body ?? new Blob([]).stream()).pipeTo(part.writable);
  await Deno.rename(`${target}.part`, target);
}
