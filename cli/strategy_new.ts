import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { invocationFolder } from "./invocation.ts";
import { say, stop } from "./terminal.ts";

const DENO = `npx -y deno@${Deno.version.deno}`;

const LANGUAGES = {
  rust: {
    name: "Rust",
    runtime: "wasm",
    files: ["rust/strategy.rs"],
    needs:
      "With the target wasm32-unknown-unknown (Debian: `apt-get install rustc libstd-rust-dev-wasm32 lld`; rustup: " +
      "`rustup target add wasm32-unknown-unknown`):",
    build: "rustc --edition 2021 --target wasm32-unknown-unknown --crate-type cdylib -O -C panic=abort " +
      "-C strip=symbols -o strategy.wasm strategy.rs",
  },
  assemblyscript: {
    name: "AssemblyScript",
    runtime: "wasm",
    files: ["assemblyscript/strategy.ts"],
    needs: "With Node:",
    build: "npx -y -p assemblyscript@0.28.20 asc strategy.ts --outFile strategy.wasm -O3 --runtime stub",
  },
  c: {
    name: "C",
    runtime: "wasm",
    files: ["c/strategy.c", "../../strategies/examples/c/hindcast.h"],
    needs: "With clang 14 or newer and lld (Debian: `apt-get install clang lld`):",
    build: "clang --target=wasm32 -O2 -std=c11 -Wall -Wextra -nostdlib -Wl,--no-entry,--strip-all " +
      "-o strategy.wasm strategy.c",
  },
  python: {
    name: "Python",
    runtime: "remote",
    files: ["python/strategy.py"],
    needs: "With Python 3.9 or newer and nothing else:",
    build: "python3 strategy.py --port 9000",
  },
  typescript: {
    name: "TypeScript",
    runtime: "remote",
    files: ["typescript/strategy.ts"],
    needs: "With Deno, which `npx` brings along:",
    build: `${DENO} run --allow-net=127.0.0.1 strategy.ts --port=9000`,
  },
} as const;

type Language = keyof typeof LANGUAGES;

const TEMPLATES = new URL("./templates/", import.meta.url);
const HINDCAST = resolve(fileURLToPath(import.meta.url), "../..");
const SERVICE = "http://127.0.0.1:8000";
// What a registration takes as a slug.
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const [NAME_MIN, NAME_MAX] = [3, 64];

const USAGE = `Writes a working strategy into a new folder: its source, and a README with the commands that build, check
and register it.

  deno task strategy new NAME --lang ${Object.keys(LANGUAGES).join("|")}

NAME is the new folder, and its last part the strategy's slug: lower-case letters, digits and single hyphens.
Rust, AssemblyScript and C become WebAssembly modules; Python and TypeScript become endpoints.`;

const SCHEMA = JSON.stringify({
  type: "object",
  properties: {
    candles: { type: "integer", minimum: 1, maximum: 1000, default: 20 },
    stopLoss: { type: "number", minimum: 0.0001, maximum: 0.9, default: 0.1 },
  },
});

const SIGN_IN = `Signed in, with the session in \`jar\`:

\`\`\`sh
curl -sS --fail-with-body -c jar -H 'content-type: application/json' ${SERVICE}/api/auth/sign-in/email \\
  -d '{"email":"ada@example.com","password":"correct horse battery"}'
\`\`\`

then`;

/** `deno task strategy new`. @throws Error in words when the arguments cannot be used. */
export async function newStrategy(args: readonly string[]): Promise<void> {
  const { values, positionals: [target, ...rest] } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { lang: { type: "string" }, help: { type: "boolean", short: "h", default: false } },
  });
  if (values.help) return say(USAGE);
  if (target === undefined || values.lang === undefined || rest.length > 0) return stop(USAGE);
  const lang = values.lang;
  if (!isLanguage(lang)) {
    throw new RangeError(`Cannot write ${lang}: there are templates for ${Object.keys(LANGUAGES).join(", ")}`);
  }
  const folder = resolve(invocationFolder(), target);
  const name = basename(folder);
  if (!NAME.test(name) || name.length < NAME_MIN || name.length > NAME_MAX) {
    throw new RangeError(
      `Cannot call a strategy ${name}: it must be ${NAME_MIN} to ${NAME_MAX} lower-case letters and digits, in parts joined ` +
        "by single hyphens",
    );
  }
  await writeStrategy(folder, name, lang);
  say(`${folder}`);
  for (const { name } of [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1)) say(`  ${name}`);
  say("README.md has the commands that build, check and register it.");
}

async function writeStrategy(folder: string, name: string, lang: Language): Promise<void> {
  const { files } = LANGUAGES[lang];
  const readme = await fillReadme(name, lang);
  try {
    await Deno.mkdir(folder);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new Error(`Cannot write ${folder}: it exists already, and nothing is overwritten`);
    }
    if (error instanceof Deno.errors.NotFound) {
      throw new Error(`Cannot write ${folder}: the folder above does not exist`);
    }
    throw error;
  }
  for (const file of files) await Deno.copyFile(new URL(file, TEMPLATES), join(folder, basename(file)));
  await Deno.writeTextFile(join(folder, "README.md"), readme);
}

async function fillReadme(name: string, lang: Language): Promise<string> {
  const { name: language, runtime, files, needs, build } = LANGUAGES[lang];
  const facts: Readonly<Record<string, string>> = {
    name,
    lang,
    language,
    needs,
    build,
    source: basename(files[0]),
    hindcast: HINDCAST,
    deno: DENO,
    service: SERVICE,
    schema: SCHEMA,
    signIn: SIGN_IN,
    backtest: describeBacktest(name),
  };
  const template = await Deno.readTextFile(new URL(`${runtime}.md`, TEMPLATES));
  return template.replace(/\{\{(\w+)\}\}/g, (_, fact: string) => {
    const text = facts[fact];
    if (text === undefined) throw new Error(`Cannot fill in ${fact}: the template asks for it and nothing gives it`);
    return text;
  });
}

function describeBacktest(name: string): string {
  return `A backtest of it, over the sample candles:

\`\`\`sh
curl -sS --fail-with-body -b jar -H 'content-type: application/json' ${SERVICE}/api/backtests -d '{"backtest":{
  "symbol":"DEMO","exchange":"SAMPLE","strategy":"${name}","start_date":"2024-02-01","end_date":"2024-07-01",
  "initial_balance":10000,"parameters":{"timeframe":"1d","candles":10}}}'
\`\`\``;
}

function isLanguage(name: string): name is Language {
  return Object.hasOwn(LANGUAGES, name);
}
