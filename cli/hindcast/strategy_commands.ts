import { basename, dirname, extname, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Inputs, Outputs } from "../../client/index.ts";
import { drawRows, NONE } from "../drawing.ts";
import { invocationFolder, RANGE_OF_MANY } from "../invocation.ts";
import { wrap } from "../terminal.ts";
import { calling, collect, unlessMissing } from "./caller.ts";
import { callerFor, group, type Output, outputFor, print, serviceCommand } from "./command.ts";
import { usageError } from "../exit_codes.ts";
import { describeStrategy, readUserFile, type Runtime } from "./question.ts";
import { readNumber, readValue } from "../values.ts";

type Strategy = Outputs["strategies"]["get"]["strategy"];
type Registration = Inputs["strategies"]["create"]["strategy"];

const DESCRIPTION_COLUMNS = 70;

const list = serviceCommand("list", "List the strategies that you can run")
  .argument("[search]", "words in names and descriptions")
  .option("--source <source>", "only builtin ones, or those of the registry")
  .option("-n, --limit <count>", "the most rows that are listed", "100")
  .action(async (search, { limit, source, ...options }) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const asked: object = Object.fromEntries(
      Object.entries({ search, source }).filter(([, value]) => value !== undefined),
    );
    const read = caller.api.strategies.summaries.query;
    const { items, next_cursor } = await collect(
      caller,
      readNumber("--limit", limit),
      (page) => read({ ...asked, ...page }),
      ({ strategies }) => strategies,
    );
    const rows = items.map(({ slug, name, runtime_type: type, description }) => [
      slug,
      name,
      type,
      wrap(description.split(/(?<=\.) /)[0] ?? "", DESCRIPTION_COLUMNS).join("\n"),
    ]);
    const text = drawRows(["Slug", "Name", "Kind", "What it does"], rows, output, ["Kind"]);
    print(output, { strategies: items, next_cursor }, text);
  });

const show = serviceCommand("show", "Show a strategy and its parameters")
  .argument("<slug>", "its slug")
  .action(async (slug, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const answer = await calling(caller, caller.api.strategies.get.query({ slug }));
    print(output, answer, drawStrategy(answer.strategy, output));
  });

const source = serviceCommand("source", "Write the code of a strategy, your own or an open one, into a new file")
  .argument("<slug>", "its slug")
  .argument("[file]", "the file (default: the slug, with .ts, .py or .wasm)")
  .option("--number <version>", "the version (default: the newest)")
  .action(async (slug, file, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const { strategy } = await calling(caller, caller.api.strategies.get.query({ slug }));
    const version = options.number ?? strategy.latest_version;
    const { fileName, sha256, data } = await calling(caller, caller.api.strategies.artifact.query({ slug, version }));
    const path = resolve(invocationFolder(), file ?? `${slug}${extname(fileName)}`);
    await writeNew(path, Uint8Array.fromBase64(data));
    print(
      output,
      { slug, version, file: path, sha256 },
      `${path} is ${slug} ${version}. Change it, and register it as your own: hindcast strategy push ${basename(path)}`,
    );
  });

async function writeNew(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await Deno.writeFile(path, bytes, { createNew: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    throw usageError(`Cannot write ${path}: it exists, and nothing is overwritten; name another file`);
  }
}

function drawStrategy(strategy: Strategy, { paint, columns }: Output): string {
  const { name, slug, description, latest_version: version, parameter_schema: schema, default_frequency: frequency } =
    strategy;
  const rows = Object.entries(Object(schema.properties)).map(([parameter, rule]) => {
    const { default: preset, description: words = "", ...limits } = Object(rule);
    const known = Object.entries(limits).map(([key, value]) => `${key} ${JSON.stringify(value)}`).join(", ");
    return [parameter, preset === undefined ? NONE : JSON.stringify(preset), known, String(words)];
  });
  return [
    `${paint("bold", name)}  ${slug}, version ${version}, ${frequency}`,
    ...wrap(description, columns),
    ...(rows.length === 0 ? [] : [drawRows(["Parameter", " Default", "Limits", "Meaning"], rows, { paint, columns })]),
  ].join("\n");
}

/** `hindcast strategies`. */
export const strategiesCommand = group("strategies", "The catalogue: built-in, your own and public strategies", [
  list,
  show,
  source,
]);

/** `hindcast strategy push`. */
export const pushCommand = serviceCommand("push", "Register a strategy, or add a version to your own")
  .argument("<strategy>", "a file (.ts, .js, .py, .wasm), an endpoint's URL, or serve:NAME")
  .option("--slug <slug>", "its slug (default: the file's or its folder's name)")
  .option("--name <name>", "its name, for a new one (default: the slug)")
  .option("--description <text>", "what the strategy does, for a new one")
  .option("--schema <file>", "the JSON Schema of its parameters, for a new one")
  .option("--config <json>", "the parameters of runs that name none, for a new one", "{}")
  .option("--lookback <candles>", "how many earlier candles a module's or an endpoint's decision sees")
  .option("--public", "let everybody run it, for a new one")
  .option("--open", "let everybody who may run it read its code, for a new one")
  .option("--number <version>", "the version's number (default: 1.0.0, else the newest with its last part one higher)")
  .action(async (target, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const { runtime } = await describeStrategy(target);
    if (runtime === undefined) {
      throw usageError(`Cannot register ${target}: name a file (.ts, .js, .py, .wasm) or a URL`);
    }
    const slug = options.slug ?? slugOf(target);
    const held = await unlessMissing(caller, caller.api.strategies.get.query({ slug }));
    const code = { ...(options.number === undefined ? {} : { version: options.number }), runtime_config: runtime };
    if (held !== null) {
      if (options.schema !== undefined) await requireSameSchema(options.schema, held.strategy);
      const answer = await calling(caller, caller.api.strategies.addVersion.mutate({ slug, version: code }));
      return print(output, answer, `${slug} has version ${answer.version.version} now.`);
    }
    const strategy = await describeNew(slug, code, options);
    const answer = await calling(caller, caller.api.strategies.create.mutate({ strategy }));
    print(
      output,
      answer,
      `Registered ${slug}, version ${answer.version.version}. Run it: hindcast run ${slug} ${rangeFor(answer.version)}`,
    );
  });

/** Markets and dates of the sample for a first run. */
function rangeFor({ runtime_config: config }: Outputs["strategies"]["create"]["version"]): string {
  const decidesOnMany = config["decidesOn"] === "markets" || config["mode"] === "portfolio";
  return decidesOnMany ? RANGE_OF_MANY : "DEMO@SAMPLE 2024-01-01 2025-01-01";
}

interface NewOptions {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly schema?: string | undefined;
  readonly config: string;
  readonly lookback?: string | undefined;
  readonly public?: true | undefined;
  readonly open?: true | undefined;
}

async function describeNew(
  slug: string,
  version: { readonly version?: string; readonly runtime_config: Runtime },
  { name = slug, description = "", schema, config, lookback, public: isPublic, open }: NewOptions,
): Promise<Registration> {
  const { runtime_config: runtime } = version;
  return {
    slug,
    name,
    description,
    runtime_type: runtime.type,
    language: "language" in runtime && runtime.language !== undefined ? runtime.language : runtime.type,
    is_public: isPublic === true,
    source_access: open === true ? "open" : "hidden",
    default_config: Object(readValue(config)),
    ...(lookback === undefined ? {} : { lookback_candles: readNumber("--lookback", lookback) }),
    ...(schema === undefined ? {} : { parameter_schema: await readSchema(schema) }),
    initial_version: version,
  };
}

/** A strategy has the schema of its registration for all of its versions. @throws {CommandError} When the file has another. */
async function requireSameSchema(path: string, { slug, parameter_schema: schema }: Strategy): Promise<void> {
  const given = await readSchema(path);
  // The empty one of a registration is shown with the parameters of the newest version's code.
  const isEmpty = isDeepStrictEqual(given, { type: "object", properties: {} });
  if (isDeepStrictEqual(given, schema) || (isEmpty && schema["additionalProperties"] === false)) return;
  throw usageError(
    `Cannot use --schema ${path}: ${slug} keeps the schema of its registration for all versions; leave --schema out, or register another with --slug`,
  );
}

async function readSchema(path: string): Promise<Record<string, unknown>> {
  const value = readValue(new TextDecoder().decode(await readUserFile(resolve(invocationFolder(), path))));
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw usageError(`Cannot use --schema ${path}: the file must hold one JSON object`);
}

/** The name of a strategy's file; that of its folder where the file is called as templates call it. */
function slugOf(target: string): string {
  if (target.startsWith("serve:")) return target.slice("serve:".length);
  if (/^https?:\/\//i.test(target)) throw usageError(`Cannot register ${target} without --slug`);
  const path = resolve(invocationFolder(), target);
  const name = basename(path, extname(path));
  return (name === "strategy" ? basename(dirname(path)) : name).toLowerCase();
}
