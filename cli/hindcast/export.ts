/** `hindcast export`. */
import { resolve } from "node:path";
import { usageError } from "../exit_codes.ts";
import { invocationFolder } from "../invocation.ts";
import { say } from "../terminal.ts";
import { callerFor, serviceCommand } from "./command.ts";
import type { RunKind } from "./run_kind.ts";
import { BACKTESTS, findRun, MONTE_CARLOS, OPTIMIZATIONS } from "./stored_kinds.ts";

/** The tables of each kind that has any. */
const TABLES: ReadonlyMap<RunKind, readonly string[]> = new Map([
  [BACKTESTS, ["trades", "orders", "holdings", "equity", "series", "returns", "log", "report"]],
  [OPTIMIZATIONS, ["trials", "account", "splits", "returns"]],
  [MONTE_CARLOS, ["paths", "curves"]],
]);
const NAMES = [...new Set([...TABLES.values()].flat())];
/** Of one format each. */
const TEXTS = ["log", "report"];
const FORMATS = ["csv", "json", "arrow"] as const;

/** `hindcast export`. */
export const exportCommand = serviceCommand("export", "Write a table of a run to a file or to standard output")
  .usage("[options] [id] <what>")
  .argument("<id>", "the id of a run (default: the newest that has such a table)")
  .argument("[what]", [...TABLES].map(([{ noun }, names]) => `${noun}: ${names.join(", ")}`).join("; "))
  .option("-f, --format <format>", FORMATS.join(", "), "csv")
  .option("-o, --output <file>", "the file (default: standard output)")
  .action(async (first, second, { format, output: path, ...options }) => {
    const caller = callerFor(options);
    const table = second ?? first;
    const kind = [...TABLES.keys()].find((each) => TABLES.get(each)?.includes(table));
    if (kind === undefined) throw usageError(`Cannot export ${table}: choose one of ${NAMES.join(", ")}`);
    if (!FORMATS.some((known) => known === format)) {
      throw usageError(`Cannot export as ${format}: --format must be one of ${FORMATS.join(", ")}`);
    }
    const run = second === undefined
      ? { kind, id: await kind.findNewest(caller) }
      : requireTable(table, await findRun(caller, first));
    const query = TEXTS.includes(table) ? "" : `?format=${format}`;
    const answer = await caller.send(`/api/${run.kind.name}/${encodeURIComponent(run.id)}/${table}${query}`);
    const body = answer.body ?? new Blob([]).stream();
    if (path === undefined) return await body.pipeTo(Deno.stdout.writable, { preventClose: true });
    const file = await Deno.open(resolve(invocationFolder(), path), { write: true, create: true, truncate: true });
    await body.pipeTo(file.writable);
    say(`Wrote ${path}.`);
  });

/** @throws CommandError for a table that runs of this kind do not have. */
function requireTable<Run extends { readonly kind: RunKind; readonly id: string }>(table: string, run: Run): Run {
  const tables = TABLES.get(run.kind) ?? [];
  if (tables.includes(table)) return run;
  const known = tables.length === 0 ? `show ${run.id} --json has all of it` : `it has ${tables.join(", ")}`;
  throw usageError(`Cannot export ${table} of the ${run.kind.noun} ${run.id}: ${known}`);
}
