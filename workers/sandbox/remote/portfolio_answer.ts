import { WEIGHT_MAX } from "../../../engine/portfolio/portfolio.ts";
import { type Action, readActions } from "./answer.ts";
import { AnswerError, isObject, parseJson, show } from "./answer_fault.ts";
import { type Drawn, readPlots } from "./plots.ts";
import { PORTFOLIO_VERSION } from "./portfolio_request.ts";

const TAG_CHARACTERS_MAX = 64;
const KEYS = new Set(["version", "targets", "partial", "min_trade", "tag", "orders", "plots", "panes"]);

/** An endpoint's decision on all markets. */
export interface PortfolioAnswer {
  /** A weight a market, NaN for one that is left alone; null: no targets. */
  readonly weights: Float64Array | null;
  readonly minTrade: number;
  readonly tag: string | null;
  /** Actions by markets, in the order of the answer. */
  readonly orders: ReadonlyMap<number, readonly Action[]>;
  readonly series: Drawn["series"];
}

/** Finds a market by its id, or by a symbol that only one has. @returns A finder of indexes; -1: none, -2: several. */
export function makeFinder(
  markets: readonly { readonly id: string; readonly symbol: string }[],
): (name: string) => number {
  const places = new Map<string, number>();
  markets.forEach(({ symbol }, n) => places.set(symbol, places.has(symbol) ? -2 : n));
  markets.forEach(({ id }, n) => places.set(id, n));
  return (name) => places.get(name) ?? -1;
}

/**
 * Reads an answer's body.
 *
 * @param find Finds a market (makeFinder). @param count Markets of the run.
 * @throws {AnswerError} Naming the first fault by its JSON pointer.
 */
export function readPortfolioAnswer(body: Uint8Array, find: (name: string) => number, count: number): PortfolioAnswer {
  const answer = parseJson(body);
  if (!isObject(answer)) throw fail(`the answer must be a JSON object, not ${show(answer)}`);
  const { version, targets = null, partial = false, min_trade: minTrade = 0, orders = null, tag = null } = answer;
  if (version !== PORTFOLIO_VERSION) {
    const hint = version === 1
      ? ": an endpoint that knows version 1 alone decides on one market, in mode batch or step"
      : "";
    throw fail(`/version must be ${PORTFOLIO_VERSION}, not ${show(version)}${hint}`);
  }
  const unknown = Object.keys(answer).find((key) => !KEYS.has(key));
  if (unknown !== undefined) throw fail(`/${unknown.slice(0, 64)} is not a key of an answer about many markets`);
  if (typeof partial !== "boolean") throw fail(`/partial must be a boolean, not ${show(partial)}`);
  if (typeof minTrade !== "number" || !(minTrade >= 0 && minTrade <= 1)) {
    throw fail(`/min_trade must be a number from 0 to 1, not ${show(minTrade)}`);
  }
  if (tag !== null && (typeof tag !== "string" || tag.length > TAG_CHARACTERS_MAX)) {
    throw fail(`/tag must be a text of at most ${TAG_CHARACTERS_MAX} characters, not ${show(tag)}`);
  }
  const place = (path: string, name: string): number => {
    const market = find(name);
    if (market >= 0) return market;
    const shown = name.slice(0, 64);
    throw fail(
      market === -1
        ? `${path}/${shown} names no market of the run`
        : `${path}/${shown} is the symbol of several markets: name its exchange, too`,
    );
  };
  return {
    weights: targets === null ? null : readWeights(targets, { place, count, partial }),
    minTrade,
    tag,
    orders: orders === null ? new Map() : readOrders(orders, place),
    series: readPlots(answer, null),
  };
}

function readWeights(
  targets: unknown,
  { place, count, partial }: {
    readonly place: (path: string, name: string) => number;
    readonly count: number;
    readonly partial: boolean;
  },
): Float64Array {
  if (!isObject(targets)) throw fail(`/targets must be an object of weights, not ${show(targets)}`);
  const weights = new Float64Array(count).fill(NaN);
  for (const name in targets) {
    const market = place("/targets", name);
    const weight = targets[name];
    if (typeof weight !== "number" || !(Math.abs(weight) <= WEIGHT_MAX)) {
      throw fail(`/targets/${name} must be a number from -${WEIGHT_MAX} to ${WEIGHT_MAX}, not ${show(weight)}`);
    }
    if (!Number.isNaN(weights[market])) throw fail(`/targets/${name} names a market for the second time`);
    weights[market] = weight;
  }
  return partial ? weights : weights.map((weight) => Number.isNaN(weight) ? 0 : weight);
}

function readOrders(
  orders: unknown,
  place: (path: string, name: string) => number,
): ReadonlyMap<number, readonly Action[]> {
  if (!isObject(orders)) throw fail(`/orders must be an object of lists of actions, not ${show(orders)}`);
  const read = new Map<number, readonly Action[]>();
  for (const name in orders) {
    const market = place("/orders", name);
    if (read.has(market)) throw fail(`/orders/${name} names a market for the second time`);
    read.set(market, readActions(orders[name], 0, `/orders/${name}`));
  }
  return read;
}

function fail(message: string): AnswerError {
  return new AnswerError(0, message);
}
