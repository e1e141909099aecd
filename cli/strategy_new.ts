import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "@commander-js/extra-typings";
import { usageError } from "./exit_codes.ts";
import { invocationFolder, SERVICE_URL } from "./invocation.ts";
import { say } from "./terminal.ts";

const DENO = `npx -y deno@${Deno.version.deno}`;

/** Each language's name, template, folder of examples, source, and the file that the source leans on. */
const LANGUAGES = {
  typescript: { language: "TypeScript", runtime: "script", folder: "scripts", source: "ts", other: "strategy.d.ts" },
  rust: { language: "Rust", runtime: "wasm", folder: "examples/rust", source: "rs", other: "hindcast.rs" },
  assemblyscript: {
    language: "AssemblyScript",
    runtime: "wasm",
    folder: "examples/assemblyscript",
    source: "ts",
    other: "hindcast.ts",
  },
  c: { language: "C", runtime: "wasm", folder: "examples/c", source: "c", other: "hindcast.h" },
  python: {
    language: "Python",
    runtime: "python",
    folder: "scripts_python",
    source: "py",
    other: "__builtins__.pyi",
  },
  "python-endpoint": {
    language: "Python",
    runtime: "remote",
    folder: "examples/python",
    source: "py",
    other: "hindcast.py",
  },
  "typescript-endpoint": {
    language: "TypeScript",
    runtime: "remote",
    folder: "examples/typescript",
    source: "ts",
    other: "hindcast.ts",
  },
} as const;

type Language = keyof typeof LANGUAGES;

/** The languages of scripts, which have a template for many markets, and their pages. */
const SCRIPT_PAGES: Partial<Record<Language, string>> = { typescript: "SCRIPTS.md", python: "PYTHON.md" };

const TEMPLATES = new URL("./templates/", import.meta.url);
const STRATEGIES = new URL("../strategies/", import.meta.url);
const HINDCAST = resolve(fileURLToPath(import.meta.url), "../..");
const IN_REPOSITORY = `${DENO} task --cwd '${HINDCAST}'`;
// Where the templates of endpoints listen.
const ENDPOINT = "http://127.0.0.1:9000/";
// The rule for slugs.
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const [NAME_MIN, NAME_MAX] = [3, 64];

const SCHEMA = JSON.stringify({
  type: "object",
  properties: {
    candles: { type: "integer", minimum: 1, maximum: 1000, default: 20 },
    stopLoss: { type: "number", minimum: 0.0001, maximum: 0.9, default: 0.1 },
  },
});

const MANY_SCHEMA = JSON.stringify({
  type: "object",
  properties: {
    top: { type: "integer", minimum: 1, maximum: 1000, default: 3 },
    lookback: { type: "integer", minimum: 1, maximum: 1000, default: 126 },
  },
});

/** The settings of editors, as the sandbox is: the language alone, and the types that `strategy.d.ts` declares. */
const TSCONFIG = {
  compilerOptions: { target: "es2023", lib: ["es2023"], types: [], module: "none", strict: true, noEmit: true },
  files: ["strategy.ts", "strategy.d.ts"],
};

/** How an agent runs a strategy for many markets. */
const RUN_MANY =
  "Run it over candles: register it, or send its text in `parameters.runtime`, with README.md's backtest.";

const SIGN_IN = `Sign in, with the session in \`jar\`:

\`\`\`sh
curl -sS --fail-with-body -c jar -H 'content-type: application/json' ${SERVICE_URL}/api/auth/sign-in/email \\
  -d '{"email":"ada@example.com","password":"correct horse battery"}'
\`\`\`

Then register:`;

const HELP = `
NAME is the new folder, and its last part the strategy's slug: lower-case letters, digits and single hyphens.
TypeScript and Python become scripts, and decide on many markets with --portfolio. Rust, AssemblyScript and C become WebAssembly modules, python-endpoint and
typescript-endpoint become endpoints.`;

/** `hindcast strategy new`. */
export const newCommand = new Command("new")
  .description("Write a working strategy into a new folder, with a README of the commands that check and register it")
  .argument("<name>", "the new folder")
  .requiredOption("--lang <language>", Object.keys(LANGUAGES).join(", "))
  .option("--portfolio", "one that decides on many markets with one account: typescript or python")
  .addHelpText("after", HELP)
  .action((target, { lang, portfolio = false }) => newStrategy(target, lang, portfolio));

/** @throws Error When the arguments cannot be used, with the reason. */
async function newStrategy(target: string, lang: string, isPortfolio: boolean): Promise<void> {
  if (!isLanguage(lang)) {
    throw usageError(`Cannot write ${lang}: --lang must be one of ${Object.keys(LANGUAGES).join(", ")}`);
  }
  if (isPortfolio && !(lang in SCRIPT_PAGES)) {
    throw usageError(`Cannot write a portfolio strategy in ${lang}: --lang must be typescript or python`);
  }
  const folder = resolve(invocationFolder(), target);
  const name = basename(folder);
  if (!NAME.test(name) || name.length < NAME_MIN || name.length > NAME_MAX) {
    throw usageError(
      `Cannot call a strategy ${name}: use ${NAME_MIN} to ${NAME_MAX} lower-case letters and digits, with single hyphens between`,
    );
  }
  await writeStrategy(folder, name, { lang, isPortfolio });
  say(`${folder}`);
  for (const { name } of [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1)) say(`  ${name}`);
  say(
    "README.md has the commands that build, check and register it; AGENTS.md tells a coding agent how to work on it.",
  );
}

interface Template {
  readonly lang: Language;
  readonly isPortfolio: boolean;
}

async function writeStrategy(folder: string, name: string, template: Template): Promise<void> {
  const { lang, isPortfolio } = template;
  const { folder: examples, source, other, runtime } = LANGUAGES[lang];
  const isPacked = await isPackage();
  const facts = await collectFacts(name, template, isPacked ? "hindcast" : IN_REPOSITORY);
  const filled = await fill(`${isPortfolio ? "portfolio" : runtime}.md`, facts);
  const readme = isPacked ? filled.split("## Register")[0] + await fill("push.md", facts) : filled;
  const agents = await fill("agents.md", facts);
  try {
    await Deno.mkdir(folder);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new Error(`Cannot write ${folder}: it exists, and nothing is overwritten`);
    }
    if (error instanceof Deno.errors.NotFound) {
      throw new Error(`Cannot write ${folder}: the folder above does not exist`);
    }
    throw error;
  }
  const example = new URL(`${examples}/`, STRATEGIES);
  const file = isPortfolio ? "portfolio/momentum_rotation" : "momentum";
  const text = await Deno.readTextFile(new URL(`${file}.${source}`, example));
  await Deno.writeTextFile(join(folder, `strategy.${source}`), text.replace(`path="../${other}"`, `path="./${other}"`));
  await Deno.copyFile(new URL(other, example), join(folder, other));
  if (!isPortfolio) await Deno.writeTextFile(join(folder, "strategy.test.json"), writeTests(lang));
  if (lang === "typescript") await Deno.writeTextFile(join(folder, "tsconfig.json"), json(TSCONFIG));
  await Deno.writeTextFile(join(folder, "README.md"), readme);
  await Deno.writeTextFile(join(folder, "AGENTS.md"), agents);
}

/** True for the npm package or a bundle: its user has the command `hindcast`. Only the repository has the lock file of all tasks. */
async function isPackage(): Promise<boolean> {
  try {
    await Deno.stat(join(HINDCAST, "deno.lock"));
    return false;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return true;
    throw error;
  }
}

/**
 * The words of the templates for one strategy, by the name of their place.
 *
 * @param base Comes before `strategy run` and the like.
 */
async function collectFacts(
  name: string,
  { lang, isPortfolio }: Template,
  base: string,
): Promise<Readonly<Record<string, string>>> {
  const { language, runtime, source, other } = LANGUAGES[lang];
  const target = runtime === "wasm" ? "strategy.wasm" : runtime === "remote" ? ENDPOINT : `strategy.${source}`;
  const command = (word: string) => `${base} strategy ${word} ${runtime === "remote" ? target : `"$PWD/${target}"`}`;
  return {
    name,
    label: language.toLowerCase(),
    language,
    build: runtime === "script" || runtime === "python" ? "" : await readBuild(lang),
    source: `strategy.${source}`,
    other,
    check: command("check"),
    test: `${command("test")}${runtime === "remote" ? ' "$PWD/strategy.test.json"' : ""}`,
    run: isPortfolio
      ? RUN_MANY
      : `Run it over candles: \`${command("run")}\`. \`--data FILE\` takes a file of candles.`,
    serve: runtime === "remote"
      ? `\n\`hindcast strategy serve ${ENDPOINT} --name ${name}\` in a third one lets it decide for runs.`
      : "",
    pushed: {
      remote: `serve:${name} --lookback 20`,
      wasm: "strategy.wasm --lookback 20",
      script: `strategy.${source}`,
      python: `strategy.${source}`,
    }[runtime],
    range: isPortfolio
      ? "ASPEN@SAMPLE,BIRCH@SAMPLE,OAK@SAMPLE 2023-01-01 2024-07-01 -t 1d -p top=2 -p lookback=40"
      : "DEMO@SAMPLE 2024-02-01 2024-07-01 -t 1d -p candles=10",
    page: SCRIPT_PAGES[lang] ?? "",
    declared: lang === "python" ? "" : `\n"parameter_schema":${MANY_SCHEMA},`,
    command: base,
    hindcast: HINDCAST,
    deno: DENO,
    service: SERVICE_URL,
    schema: SCHEMA,
    signIn: SIGN_IN,
    backtest: describeBacktest(name),
  };
}

/** Two tests of the template, whose figures are worked out by hand. */
function writeTests(lang: Language): string {
  const parameters = { candles: 2, [lang === "python" ? "stop_loss" : "stopLoss"]: 0.1 };
  const rise = { side: "long", entry_candle: 4, entry_price: 12 };
  return json([
    {
      name: "it buys a rise at the next open, and closes a fall",
      closes: [10, 10, 10, 12, 12, 11, 11],
      parameters,
      expect: { trades: [{ ...rise, exit_candle: 6, exit_price: 11, exit_reason: "signal" }] },
    },
    {
      name: "its stop loss is a tenth below the entry",
      closes: [10, 10, 10, 12, 12, 8, 8],
      parameters,
      expect: { trades: [{ ...rise, exit_candle: 5, exit_price: 10.8, exit_reason: "stop_loss" }] },
    },
  ]);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

async function fill(file: string, facts: Readonly<Record<string, string>>): Promise<string> {
  const template = await Deno.readTextFile(new URL(file, TEMPLATES));
  return template.replace(/\{\{(\w+)\}\}/g, (_, fact: string) => {
    const text = facts[fact];
    if (text === undefined) throw new Error(`Cannot fill in the template: {{${fact}}} is not known`);
    return text;
  });
}

/** The section "Build" or "Run" of the example's README, for a strategy that is called strategy. */
async function readBuild(lang: Language): Promise<string> {
  const readme = await Deno.readTextFile(new URL(`${LANGUAGES[lang].folder}/README.md`, STRATEGIES));
  const section = /^## (?:Build|Run)\n.*?(?=\n## |(?![^]))/ms.exec(readme)?.[0];
  if (section === undefined) throw new Error(`Cannot find how to build ${lang} in the README of its example`);
  return section.trim().replaceAll("sma_cross", "strategy");
}

function describeBacktest(name: string): string {
  return `Run a backtest over the sample candles:

\`\`\`sh
curl -sS --fail-with-body -b jar -H 'content-type: application/json' ${SERVICE_URL}/api/backtests -d '{"backtest":{
  "symbol":"DEMO","exchange":"SAMPLE","strategy":"${name}","start_date":"2024-02-01","end_date":"2024-07-01",
  "initial_balance":10000,"parameters":{"timeframe":"1d","candles":10}}}'
\`\`\``;
}

function isLanguage(name: string): name is Language {
  return Object.hasOwn(LANGUAGES, name);
}
