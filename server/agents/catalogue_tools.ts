/** Tools that find data, strategies and words, and write a strategy. */
import { z } from "zod";
import { AppError } from "../../routers/common/errors.ts";
import { fitPage, fitRows, fitText, markText } from "./answers.ts";
import { findPassages, PAGES } from "./pages.ts";
import { LANGUAGES } from "./run_tools.ts";
import { type AgentApi, pageFields, tool } from "./tool.ts";

type Strategy = Awaited<ReturnType<AgentApi["strategies"]["get"]>>["strategy"];

const PAGE_NAMES = Object.keys(PAGES);

export const CATALOGUE_TOOLS = [
  tool({
    name: "find_data",
    title: "Find market data",
    description:
      "Instruments whose candles are held, with the dates and the timeframes that are stored: a run makes longer timeframes of " +
      "them. Others may be fetched when a run names them.",
    input: {
      search: z.string().max(100).optional().describe("A part of the symbol, as in EUR."),
      ...pageFields(40),
    },
    isReading: true,
    call: async (api, input) => {
      // SYMBOL@EXCHANGE, as people write it.
      const search = input.search?.split("@")[0];
      const { instruments, next_cursor } = await api.marketData.instruments({ ...input, search });
      if (instruments.length === 0) {
        return { instruments, more: "no symbol has this in it: call find_data without search" };
      }
      return fitPage("find_data", "instruments", instruments, next_cursor === null ? {} : { next_cursor });
    },
  }),
  tool({
    name: "list_strategies",
    title: "List strategies",
    description: "The catalogue: built-in strategies, this account's own, and public ones of others.",
    input: { search: z.string().max(100).optional(), ...pageFields(40) },
    isReading: true,
    call: async (api, input) => {
      const { strategies, next_cursor } = await api.strategies.summaries(input);
      const rows = strategies.map(({ slug, name, description, source, runtime_type, is_owner }) => {
        const isOwn = is_owner || source === "builtin";
        const words = { name: markText(name, isOwn), description: markText(description.slice(0, 200), isOwn) };
        return { slug, ...words, source, runtime_type };
      });
      return fitPage("list_strategies", "strategies", rows, next_cursor === null ? {} : { next_cursor });
    },
  }),
  tool({
    name: "read_strategy",
    title: "Read a strategy",
    description:
      "A strategy's parameters with their defaults and bounds, and the source of a script: this account's own, or one that its " +
      "author has opened.",
    input: {
      slug: z.string().max(100).describe("The slug or the name, from list_strategies."),
      first_line: z.int().min(0).default(0).describe("Of the source."),
    },
    isReading: true,
    call: async (api, { slug: asked, first_line }) => {
      const slug = await findSlug(api, asked);
      const { strategy } = await api.strategies.get({ slug });
      const head = describeStrategy(strategy);
      const isReadable = strategy.is_owner || strategy.source_access === "open";
      if (strategy.runtime_type !== "script" || !isReadable) return head;
      const { data } = await api.strategies.artifact({ slug, version: strategy.latest_version });
      const source = new TextDecoder().decode(Uint8Array.fromBase64(data));
      const { text, ...rest }: { readonly text?: unknown } = fitText(
        head,
        source,
        first_line,
        (line) => `call read_strategy with first_line ${line}`,
      );
      return { ...rest, text: markText(String(text), strategy.is_owner) };
    },
  }),
  tool({
    name: "write_strategy",
    title: "Check and keep a script",
    description:
      "Checks a script and registers it as this account's own, privately; where the slug is one of its own already, as a new " +
      "version. A refusal has the author's line. To try a script without keeping it, use run_backtest with `source`.",
    input: {
      slug: z.string().max(64).describe("As in my-cross."),
      name: z.string().max(100).describe("The display name that run_backtest takes."),
      description: z.string().max(4000).default(""),
      source: z.string().max(262_144),
      language: z.enum(LANGUAGES).default("typescript"),
      parameter_schema: z.record(z.string(), z.unknown()).optional()
        .describe('As in {"type":"object","properties":{"fast":{"type":"integer","default":10,"minimum":1}}}.'),
    },
    isReading: false,
    call: async (api, input) => await writeStrategy(api, input),
  }),
  tool({
    name: "read_page",
    title: "Read the documentation",
    description: `A page of the documentation: ${
      PAGE_NAMES.map((name) => `${name} (${PAGES[name]?.about})`).join("; ")
    }.`,
    input: { page: z.enum(PAGE_NAMES), first_line: z.int().min(0).default(0) },
    isReading: true,
    call: (_, { page, first_line }) => {
      const text = PAGES[page]?.text ?? "";
      const lines = text.split("\n").length;
      if (first_line >= lines) return Promise.resolve({ page, text: "", more: `the page ends with line ${lines - 1}` });
      return Promise.resolve(
        fitText({ page }, text, first_line, (line) => `call read_page with page ${page} and first_line ${line}`),
      );
    },
  }),
  tool({
    name: "explain",
    title: "Explain a word",
    description: "What a metric, a code of a refusal, a setting or any other word means, from the documentation.",
    input: { word: z.string().min(2).max(100).describe("As in sortino, INVALID_SIGNAL, limitFill.") },
    isReading: true,
    call: (_, { word }) => {
      const found = findPassages(word);
      if (found.length === 0) {
        return Promise.resolve({ word, found: 0, more: "ask for one word of it, or call read_page" });
      }
      return Promise.resolve(
        fitRows({ word, found: found.length }, "passages", found.slice(0, 20), () => "read_page has the whole pages"),
      );
    },
  }),
];

function describeStrategy(strategy: Strategy) {
  const { slug, name, description, source, runtime_type, language, latest_version } = strategy;
  const { default_config, parameter_schema, default_frequency, min_candles, is_owner } = strategy;
  const isOwn = is_owner || source === "builtin";
  return {
    slug,
    name: markText(name, isOwn),
    description: markText(description, isOwn),
    source,
    runtime_type,
    language,
    latest_version,
    default_frequency,
    min_candles,
    default_config,
    // Its descriptions are another user's words, too.
    parameter_schema: isOwn ? parameter_schema : { written_by_another_user: parameter_schema },
  };
}

async function writeStrategy(api: AgentApi, { slug, name, description, source, language, parameter_schema }: {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly source: string;
  readonly language: (typeof LANGUAGES)[number];
  readonly parameter_schema?: Record<string, unknown> | undefined;
}): Promise<object> {
  const runtime_config = { type: "script" as const, language, source };
  const own = await findOwn(api, slug);
  if (own !== null) {
    const { version } = await api.strategies.addVersion({ slug, version: { runtime_config } });
    return {
      slug,
      version: version.version,
      kept: "as a new version; its name and description stay, as does a parameter_schema that it was registered with",
    };
  }
  const schema = parameter_schema === undefined ? {} : { parameter_schema };
  const initial_version = { runtime_config };
  const strategy = { slug, name, description, runtime_type: "script" as const, language, ...schema, initial_version };
  const made = await api.strategies.create({ strategy });
  return {
    slug,
    version: made.version.version,
    kept: "privately",
    run_it: `run_backtest with strategy ${JSON.stringify(name)}`,
  };
}

/** The slug of a strategy that is asked for by its slug or by its name. */
async function findSlug(api: AgentApi, asked: string): Promise<string> {
  const { strategies } = await api.strategies.summaries({ search: asked, limit: 40 });
  const named = strategies.find(({ slug }) => slug === asked) ??
    strategies.find(({ name }) => name.toLowerCase() === asked.toLowerCase());
  return named?.slug ?? asked;
}

async function findOwn(api: AgentApi, slug: string): Promise<Strategy | null> {
  try {
    const { strategy } = await api.strategies.get({ slug });
    return strategy.is_owner ? strategy : null;
  } catch (error) {
    if (error instanceof AppError && error.appCode === "STRATEGY_NOT_FOUND") return null;
    throw error;
  }
}
