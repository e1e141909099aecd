/** The part of a submission that a backtest and an optimization share: strategy, markets, dates, parameters and costs. */
import { basename, extname, resolve } from "node:path";
import type { BacktestRequest, Inputs } from "../../client/index.ts";
import { TIMEFRAME_NAMES } from "../../market/timeframes.ts";
import { invocationFolder } from "../invocation.ts";
import { serviceCommand } from "./command.ts";
import { usageError } from "../exit_codes.ts";
import {
  COMMISSION_OPTION,
  type CostOptions,
  EXECUTION_OPTION,
  readCosts,
  readNumber,
  readObject,
  readPair,
  SLIPPAGE_OPTION,
} from "../values.ts";

/** How code runs that is no strategy of the catalogue. */
export type Runtime = Exclude<Inputs["strategies"]["create"]["strategy"]["initial_version"], string>["runtime_config"];

const LANGUAGES: Readonly<Record<string, "python" | "typescript" | "javascript">> = {
  ".py": "python",
  ".ts": "typescript",
  ".js": "javascript",
};
const BALANCE = 10_000;

/** A command that asks one: `NAME STRATEGY MARKETS FROM TO`. @param several Says what it does with several markets. */
export function questionCommand(name: string, description: string, several: string) {
  return serviceCommand(name, description)
    .argument("<strategy>", "a name of the catalogue, a file (.ts, .js, .py, .wasm), an endpoint's URL, or serve:NAME")
    .argument("<markets>", `SYMBOL@EXCHANGE, as in DEMO@SAMPLE; ${several}`)
    .argument("<from>", "the first day, as in 2024-01-01")
    .argument("<to>", "the day after the last")
    .option("-t, --timeframe <t>", `${TIMEFRAME_NAMES.join(" ")} (default: the strategy's own)`)
    .option("-p, --parameter <name=value...>", "a parameter of the strategy, as in -p fast=24")
    .option("--parameters <json>", "everything that the API takes as parameters, as one object")
    .option("--balance <money>", "the capital at the start (default: 10000)")
    .option(...COMMISSION_OPTION)
    .option(...SLIPPAGE_OPTION)
    .option(...EXECUTION_OPTION)
    .option("--lookback <candles>", "how many earlier candles a file's or an endpoint's decision sees")
    .option("--universe <slug>", "run over the members of this universe; the first of MARKETS is still its benchmark");
}

interface QuestionOptions extends CostOptions {
  readonly timeframe?: string | undefined;
  readonly parameter?: readonly string[] | undefined;
  readonly parameters?: string | undefined;
  readonly balance?: string | undefined;
  readonly lookback?: string | undefined;
  readonly universe?: string | undefined;
}

/**
 * Reads what to simulate.
 *
 * @param strategy A name or slug of the catalogue, the file of a script or a module, or the URL of an endpoint.
 * @param markets `DEMO@SAMPLE`, or several of them, separated by commas.
 * @throws CommandError for what cannot be read.
 */
export async function readQuestionOf(
  [strategy, markets, start, end]: readonly [string, string, string, string],
  options: QuestionOptions,
): Promise<BacktestRequest> {
  const { name, slug, runtime } = await describeStrategy(strategy);
  if (options.lookback !== undefined && runtime === undefined) {
    throw usageError(`Cannot use --lookback for ${strategy}: a strategy of the catalogue has its own`);
  }
  const lookback = options.lookback === undefined ? {} : {
    lookbackCandles: readNumber("--lookback", options.lookback),
  };
  const [first, ...others] = readMarkets(markets);
  const execution = readCosts(options);
  return {
    ...first,
    strategy: name,
    start_date: start,
    end_date: end,
    initial_balance: options.balance === undefined ? BALANCE : readNumber("--balance", options.balance),
    parameters: {
      ...readObject("--parameters", options.parameters ?? "{}"),
      ...Object.fromEntries((options.parameter ?? []).map((text) => readPair("--parameter", text))),
      ...(options.timeframe === undefined ? {} : { timeframe: options.timeframe }),
      ...(slug === undefined ? {} : { runtime: { slug } }),
      ...(runtime === undefined ? {} : { runtime: { ...runtime, ...lookback } }),
      ...(execution === undefined ? {} : { execution }),
      ...(options.universe === undefined ? {} : { universe: options.universe }),
      ...(others.length === 0 || options.universe !== undefined ? {} : { instruments: [first, ...others] }),
    },
  };
}

/** The instruments of `A@X,B@X`. @throws CommandError where one of them names no exchange. */
export function readMarkets(text: string): [Market, ...Market[]] {
  const [first, ...others] = text.split(",").map((part) => readMarket(part.trim()));
  return [first!, ...others];
}

interface Market {
  readonly symbol: string;
  readonly exchange: string;
}

function readMarket(text: string): Market {
  // Symbols may hold an @.
  const at = text.lastIndexOf("@");
  if (at > 0 && at < text.length - 1) return { symbol: text.slice(0, at), exchange: text.slice(at + 1) };
  throw usageError(
    `Cannot use the market ${text}: write the symbol and the exchange, as in DEMO@SAMPLE; see hindcast markets`,
  );
}

/** The name that a run shows, and how to run it; no runtime for a strategy of the catalogue. */
export async function describeStrategy(text: string): Promise<{ name: string; slug?: string; runtime?: Runtime }> {
  if (/^(https?:\/\/|serve:)/i.test(text)) {
    return { name: text.slice(0, 100), runtime: { type: "remote", endpoint: text } };
  }
  const extension = extname(text);
  const language = LANGUAGES[extension];
  if (language === undefined && extension !== ".wasm") return describeKnown(text);
  const path = resolve(invocationFolder(), text);
  const name = basename(path, extension);
  const bytes = await readUserFile(path);
  if (language !== undefined) {
    return { name, runtime: { type: "script", language, source: new TextDecoder().decode(bytes) } };
  }
  const artifact = { file_name: basename(path), content_base64: bytes.toBase64(), content_type: "application/wasm" };
  return { name, runtime: { type: "wasm", artifact } };
}

/** A strategy of the catalogue: names have capitals or spaces, and slugs have neither. */
function describeKnown(text: string): { name: string; slug?: string } {
  return /^[a-z0-9]+([-_][a-z0-9]+)*$/.test(text) ? { name: text, slug: text } : { name: text };
}

/** @throws CommandError where there is no such file. */
export async function readUserFile(path: string): Promise<Uint8Array> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound ? "there is no such file" : String(error);
    throw usageError(`Cannot read ${path}: ${reason}`);
  }
}
