/**
 * Every bench, one after the other: `deno task bench [FILTER] [--help]`. Each is a process of its own, so that none runs in code
 * that another has warmed up, and reports rows (measure.ts), which end as one table. Those that need PostgreSQL find one: TEST_DATABASE_URL's, or one that is started for them, whose
 * commits are as safe from crashes as they would be elsewhere.
 */
import { startPostgres } from "../tests/support/postgres.ts";
import { formatTable, type Row } from "./table.ts";

const FOLDER = new URL(".", import.meta.url);
const SUFFIX = "_bench.ts";

const USAGE = `Measures, one bench after the other, and prints a table of all measures at the end.

  deno task bench [FILTER]

FILTER leaves out every bench without it in its name. A bench's own file says what it measures and which arguments it
takes when it is started alone.`;

const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) => name.endsWith(SUFFIX))
  .map((name) => name.slice(0, -SUFFIX.length)).sort();

/** `deno task bench`; the exit code is 1 when a bench has failed. */
async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    say(`${USAGE}\n\nThere are ${names.join(", ")}.`);
    return 0;
  }
  const [filter = "", ...rest] = args;
  const chosen = names.filter((name) => name.includes(filter));
  if (rest.length > 0 || chosen.length === 0) {
    say(`Cannot choose by ${args.join(" ")}: one filter, and there are ${names.join(", ")}`, Deno.stderr);
    return 1;
  }
  const given = Deno.env.get("TEST_DATABASE_URL");
  const server = given === undefined ? await startPostgres(true) : { url: given, stop: () => Promise.resolve() };
  const rows = await Deno.makeTempFile({ prefix: "hindcast-bench-" });
  let failed = 0;
  for (const name of chosen) {
    say(`\n== ${name} ==`);
    const begun = performance.now();
    const script = new URL(`${name}${SUFFIX}`, FOLDER).pathname;
    const { code } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", script],
      env: { TEST_DATABASE_URL: server.url, BENCH_ROWS: rows },
    }).spawn().status;
    say(code === 0 ? `(${((performance.now() - begun) / 1000).toFixed(0)} s)` : `Failed with exit code ${code}.`);
    if (code !== 0) failed++;
  }
  await server.stop();
  const measured: Row[] = (await Deno.readTextFile(rows)).split("\n").filter(Boolean).map((line) => JSON.parse(line));
  await Deno.remove(rows);
  say(`\n${formatTable(measured, { hasHead: true })}`);
  say(`\n${chosen.length - failed} of ${chosen.length} benches came to their end.`);
  return failed === 0 ? 0 : 1;
}

function say(line: string, stream: typeof Deno.stdout | typeof Deno.stderr = Deno.stdout): void {
  stream.writeSync(new TextEncoder().encode(`${line}\n`));
}

Deno.exit(await main(Deno.args));
