/**
 * Breaks the simulator on purpose, one rule at a time, and shows which test notices: `deno task mutations [WORDS]`. The
 * words choose the rules that contain them. Each change is made in a copy of the tree in a temporary folder. Exits with 1
 * if a change goes unnoticed.
 */
import { dirname, join } from "node:path";
import { COPIED, type Mutation, MUTATIONS } from "./mutations_list.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
/** A change may make a loop endless. */
const TEST_TIMEOUT_MS = 120_000;
// Stages run one after the other: quick tests on paper, then long ones, then random runs for the changes left unnoticed.
const LONG_TESTS = ["tests/engine/next_decision_test.ts"];
const RANDOM_TESTS = ["tests/engine/properties_test.ts"];
const UNUSED_TESTS = ["tests/engine/mutations_test.ts"];
const RANDOM_RUNS = "3000";

interface Verdict {
  readonly mutation: Mutation;
  /** The test that failed first; null: none did. */
  readonly noticedBy: string | null;
  readonly seconds: number;
}

const folder = await Deno.makeTempDir({ prefix: "hindcast-mutations-" });
let survivors = 0;
try {
  await installPackages();
  await copyTree(folder);
  const stages = [listTests(), LONG_TESTS, RANDOM_TESTS];
  const healthy = await firstFailure(stages);
  if (healthy !== null) throw new Error(`Cannot try mutations: "${healthy}" fails without any`);
  const words = Deno.args.join(" ");
  const chosen = MUTATIONS.filter(({ rule }) => rule.includes(words));
  for (const [n, mutation] of chosen.entries()) {
    const verdict = await tryMutation(mutation, stages);
    if (verdict.noticedBy === null) survivors++;
    write(`${String(n + 1).padStart(3)}  ${describe(verdict)}\n`);
  }
  write(`${chosen.length} rules were broken, ${chosen.length - survivors} of them were noticed\n`);
} finally {
  await Deno.remove(folder, { recursive: true });
}
Deno.exit(survivors === 0 ? 0 : 1);

function describe({ mutation, noticedBy, seconds }: Verdict): string {
  const by = noticedBy === null ? "NOBODY NOTICED" : noticedBy;
  return `${mutation.rule.padEnd(72)} ${mutation.file.padEnd(30)} ${seconds.toFixed(1).padStart(5)} s  ${by}`;
}

/** The tests' packages, which nothing has installed yet in a fresh clone. */
async function installPackages(): Promise<void> {
  const args = ["install", "--quiet", "--frozen", "--node-modules-dir=auto"];
  const { success } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).spawn().status;
  if (!success) throw new Error("Cannot try mutations: the packages of deno.lock cannot be installed");
}

async function copyTree(to: string): Promise<void> {
  for (const path of COPIED) await copy(join(ROOT, path), join(to, path));
  await Deno.symlink(join(ROOT, "node_modules"), join(to, "node_modules"));
}

async function copy(from: string, to: string): Promise<void> {
  await Deno.mkdir(dirname(to), { recursive: true });
  if ((await Deno.stat(from)).isFile) return await Deno.copyFile(from, to);
  for await (const entry of Deno.readDir(from)) await copy(join(from, entry.name), join(to, entry.name));
}

/** The engine's quick tests on paper. */
function listTests(): string[] {
  const tests = [...Deno.readDirSync(join(ROOT, "tests/engine"))]
    .filter((entry) => entry.name.endsWith("_test.ts"))
    .map((entry) => `tests/engine/${entry.name}`)
    .filter((path) => ![...RANDOM_TESTS, ...LONG_TESTS, ...UNUSED_TESTS].includes(path));
  return [
    ...tests.sort(),
    "tests/engine/metrics",
    "tests/engine/portfolio/known_answers_test.ts",
    "tests/engine/portfolio/currencies_test.ts",
  ];
}

async function tryMutation(mutation: Mutation, stages: readonly string[][]): Promise<Verdict> {
  const path = join(folder, mutation.file);
  const source = await Deno.readTextFile(path);
  const changed = source.replace(mutation.text, () => mutation.replacement);
  if (changed === source) throw new Error(`Cannot break "${mutation.rule}": ${mutation.file} does not hold its text`);
  await Deno.writeTextFile(path, changed);
  const start = performance.now();
  try {
    const noticedBy = await firstFailure(stages);
    return { mutation, noticedBy, seconds: (performance.now() - start) / 1000 };
  } finally {
    await Deno.writeTextFile(path, source);
  }
}

/** The first test that fails, quick tests first; null when all pass. */
async function firstFailure(stages: readonly string[][]): Promise<string | null> {
  for (const tests of stages) {
    const failure = await runTests(tests);
    if (failure !== null) return failure;
  }
  return null;
}

async function runTests(tests: readonly string[]): Promise<string | null> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["test", "--allow-all", "--no-check", "--fail-fast", ...tests],
    cwd: folder,
    env: { NO_COLOR: "1", PROPERTY_SEED: "1", PROPERTY_RUNS: RANDOM_RUNS },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    process.kill("SIGKILL");
  }, TEST_TIMEOUT_MS);
  const { success, stdout, stderr } = await process.output();
  clearTimeout(timer);
  if (success) return null;
  if (isLate) return "the time limit";
  const text = new TextDecoder().decode(stdout);
  const failed = text.split("\n").find((line) => / \.\.\. FAILED/.test(line));
  return failed?.trim().replace(/ \.\.\. FAILED.*/, "") ?? lastLine(text + new TextDecoder().decode(stderr));
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "a test without output";
}

function write(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}
