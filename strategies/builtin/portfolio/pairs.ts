import { periodProperty, readNumber, schemaOf } from "../parameter_schema.ts";
import { linesIn } from "./decision_lines.ts";
import { EXPOSURE, type PortfolioBuiltin } from "./portfolio_builtin.ts";
import { commonCloses } from "./returns.ts";

/** Two instruments that belong together, when they have drifted apart. */
export const pairs: PortfolioBuiltin = {
  slug: "pairs",
  name: "Pairs",
  description:
    "Statistical arbitrage of the first two instruments. The spread is log(first) - hedge x log(second), the hedge by least squares over the lookback. Sells the spread when it is `entry` standard deviations above its mean and buys it below, leaves within `exit`, and gives up beyond `stop`, until the spread has come back. Enters only if deviations have halved within `halfLife` candles.",
  reasons: {
    ...{ long: "the spread was far from its mean", short: "the spread was far from its mean" },
    exit_long: "the spread came back, or went too far",
    exit_short: "the spread came back, or went too far",
  },
  instruments: { min: 2, max: 2 },
  parameter_schema: schemaOf({
    lookback: periodProperty("Common closes of the hedge, the mean and the deviation", 60, 10),
    entry: deviations("Standard deviations from the mean at which it enters", 2),
    exit: deviations("Standard deviations from the mean within which it leaves", 0.5),
    stop: deviations("Standard deviations from the mean at which it gives up", 4),
    halfLife: periodProperty("The longest half-life of a deviation that is entered, in candles", 30),
    exposure: EXPOSURE,
  }),
  create(parameters, plots) {
    const lookback = readNumber(parameters, "lookback");
    const [entry, exit, stop] = ["entry", "exit", "stop"].map((name) => readNumber(parameters, name)) as [
      number,
      number,
      number,
    ];
    const halfLifeMax = readNumber(parameters, "halfLife");
    const exposure = readNumber(parameters, "exposure");
    if (!(exit < entry && entry < stop)) {
      throw new RangeError(`exit, entry and stop must rise: ${exit}, ${entry} and ${stop} do not`);
    }
    let side = 0;
    let hasStopped = false;
    return {
      kind: "portfolio",
      warmup: lookback,
      every: null,
      prepare() {
        side = 0;
        hasStopped = false;
        plots?.begin(LINES);
      },
      decide(now, markets, _account, orders) {
        const two = markets.slice(0, 2);
        // Both legs count at closes that they have in common.
        if (two.length < 2 || !two.every(({ hasClosed }) => hasClosed)) return;
        const closes = commonCloses(two, lookback);
        if (closes === null) return;
        const { hedge, score, halfLife, last, mean } = measureSpread(
          closes[0]!.map(Math.log),
          closes[1]!.map(Math.log),
        );
        plots?.add(now, [
          ...[score, entry, -entry, exit, -exit, stop, -stop, last, mean],
          ...[Number.isFinite(halfLife) ? halfLife : NaN, halfLifeMax],
        ]);
        if (Math.abs(score) <= exit) hasStopped = false;
        const before = side;
        if (side !== 0 && (Math.abs(score) >= stop || -side * score <= exit)) {
          hasStopped = Math.abs(score) >= stop;
          side = 0;
        }
        const isMember = two.every((market) => market.isMember);
        const enters = Math.abs(score) >= entry && Math.abs(score) < stop && halfLife <= halfLifeMax;
        if (side === 0 && before === 0 && isMember && !hasStopped && enters) side = -Math.sign(score);
        if (side === before) return;
        const first = side * exposure / (1 + Math.abs(hedge));
        orders.target(
          Float64Array.from(markets, (_, n) => side === 0 ? 0 : n === 0 ? first : n === 1 ? -first * hedge : 0),
        );
      },
    };
  },
};

const LINES = [
  ...linesIn("z-score", ["z-score", "entry", "-entry", "exit", "-exit", "stop", "-stop"], 4),
  ...linesIn("spread", ["spread", "mean"]),
  ...linesIn("half-life", ["half-life", "longest"], 2),
];

function deviations(description: string, value: number) {
  return { type: "number", description, default: value, minimum: 0, maximum: 100 } as const;
}

/** The spread of two columns of logarithms: its hedge by least squares, how far it is from its mean, and how fast it comes back. `last` and `mean` are its own. */
export function measureSpread(a: Float64Array, b: Float64Array) {
  const count = a.length;
  const hedge = slopeOf(b, a);
  const spread = a.map((value, k) => value - hedge * b[k]!);
  const mean = spread.reduce((sum, value) => sum + value, 0) / count;
  const deviation = Math.sqrt(spread.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1));
  // The change of a candle by the deviation before it: a negative slope pulls back.
  const pull = slopeOf(spread.subarray(0, -1), spread.subarray(1).map((value, k) => value - spread[k]!));
  const halfLife = pull < 0 && pull > -1 ? -Math.LN2 / Math.log1p(pull) : pull <= -1 ? 0 : Infinity;
  const last = spread[count - 1]!;
  return { hedge, score: deviation > 0 ? (last - mean) / deviation : 0, halfLife, last, mean };
}

/** The slope of `y` by `x`; 0 where `x` does not move. */
function slopeOf(x: Float64Array, y: Float64Array): number {
  const count = x.length;
  const [meanX, meanY] = [x, y].map((column) => column.reduce((sum, value) => sum + value, 0) / count) as [
    number,
    number,
  ];
  let [xy, xx] = [0, 0];
  for (let k = 0; k < count; k++) {
    xy += (x[k]! - meanX) * (y[k]! - meanY);
    xx += (x[k]! - meanX) ** 2;
  }
  return xx > 0 ? xy / xx : 0;
}
