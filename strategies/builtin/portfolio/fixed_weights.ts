import type { MarketView } from "../../../engine/portfolio/portfolio.ts";
import { readNumber, schemaOf } from "../parameter_schema.ts";
import { linesIn, marketLines, marketValues } from "./decision_lines.ts";
import { everyProperty, MarketsRefused, type PortfolioBuiltin, readEvery } from "./portfolio_builtin.ts";

// As the most exposure of the other strategies.
const WEIGHT_MAX = 10;

/** Chosen weights, restored once one of them is too far off. */
export const fixedWeights: PortfolioBuiltin = {
  slug: "fixed-weights",
  name: "Fixed Weights",
  description:
    "Asset allocation. Holds chosen weights, as in 60/40, and restores all of them once a period if one of them is off by the band or more. Instruments that are not named are not held.",
  reasons: {
    ...{ long: "less was held than its weight", exit_long: "more was held than its weight" },
    ...{ short: "more was held than its weight", exit_short: "less was held than its weight" },
  },
  instruments: { min: 1, max: null },
  parameter_schema: schemaOf({
    weights: {
      type: "string",
      description:
        "Instruments and their fractions of equity, `SPY 0.6, TLT 0.4`; an id where a symbol is not unique: `SPY@ARCA 0.6`. Empty: equal",
      default: "",
    },
    band: {
      type: "number",
      description: "Rebalances when a weight is off by this fraction of equity; 0: at each period",
      default: 0,
      minimum: 0,
      maximum: 1,
    },
    every: everyProperty("month"),
  }),
  requireMarkets({ weights = "" }, markets) {
    for (const part of String(weights).split(",").map((one) => one.trim()).filter((one) => one !== "")) {
      findNamed(markets, part.split(/\s+/)[0]!);
    }
  },
  create(parameters, plots) {
    const wanted = readWeights(String(parameters["weights"]));
    const band = readNumber(parameters, "band");
    let weights: Float64Array = new Float64Array(0);
    let hasBegun = false;
    return {
      kind: "portfolio",
      warmup: 1,
      every: readEvery(parameters),
      prepare(markets) {
        hasBegun = false;
        weights = wanted.size === 0
          ? new Float64Array(markets.length).fill(1 / markets.length)
          : weightsOf(markets, wanted);
        const levels = linesIn("deviation", band > 0 ? ["band", "-band", "largest"] : ["largest"]);
        plots?.begin([...levels, ...marketLines(markets, "deviation")]);
      },
      decide(now, markets, _account, orders) {
        const held = markets.map((market) => market.isMember || market.quantity !== 0 ? weights[market.index]! : 0);
        const isOff = markets.some(({ weight }, k) => Math.abs(weight - held[k]!) >= band);
        plots?.add(now, shownDeviations(markets, held, band, hasBegun));
        if (hasBegun && !isOff) return;
        hasBegun = true;
        orders.target(Float64Array.from(held));
      },
    };
  },
};

/** The band, the largest deviation from the weights, and those of the first markets. The first decision waits for none. */
function shownDeviations(
  markets: readonly MarketView[],
  wanted: readonly number[],
  band: number,
  hasBegun: boolean,
): readonly number[] {
  const off = Float64Array.from(markets, ({ weight }, k) => hasBegun ? weight - wanted[k]! : NaN);
  const largest = off.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  return [...band > 0 ? [band, -band] : [], largest, ...marketValues(off)];
}

/** @throws {RangeError} When a part is no instrument and weight, an instrument comes twice, or the weights are not usable. */
function readWeights(text: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of text.split(",").map((one) => one.trim()).filter((one) => one !== "")) {
    const [name = "", value = "", ...rest] = part.split(/\s+/);
    const weight = Number(value);
    if (value === "" || rest.length > 0 || !Number.isFinite(weight)) {
      throw new RangeError(`weights must be instruments and fractions, as in SPY 0.6, TLT 0.4: "${part}" is not one`);
    }
    if (Math.abs(weight) > WEIGHT_MAX) {
      throw new RangeError(`weights must be from -${WEIGHT_MAX} to ${WEIGHT_MAX}: "${part}" is not`);
    }
    if (weights.has(name)) throw new RangeError(`weights name ${name} twice`);
    weights.set(name, weight);
  }
  return weights;
}

/** @throws {MarketsRefused} As findNamed(). */
function weightsOf(markets: readonly MarketView[], wanted: ReadonlyMap<string, number>): Float64Array {
  const weights = new Float64Array(markets.length);
  for (const [name, weight] of wanted) {
    weights[findNamed(markets, name).index] = weight;
  }
  return weights;
}

/** @throws {MarketsRefused} When a name is no instrument's, or that of several. */
function findNamed<Market extends { readonly id: string; readonly symbol: string }>(
  markets: readonly Market[],
  name: string,
): Market {
  const found = markets.filter(({ id, symbol }) => id === name || symbol === name);
  if (found.length === 1) return found[0]!;
  const known = markets.slice(0, 10).map(({ id }) => id).join(", ");
  throw new MarketsRefused(
    "weights",
    `must name instruments of the run: ${found.length} are called ${name}; there are ${known}`,
  );
}
