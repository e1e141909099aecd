import { quantile } from "../numbers/quantiles.ts";
import { chooseCurvePositions } from "./curve.ts";
import { FIGURE_NAMES, type FigureName, type MeasuredPath, type PathFigures } from "./paths.ts";

/** The quantiles that a result has, by name. */
const QUANTILES = { p05: 0.05, p25: 0.25, p50: 0.5, p75: 0.75, p95: 0.95 } as const;
type QuantileName = keyof typeof QUANTILES;

/** Numbers that differ by less, relative to their size, differ by rounding: a shuffled product is the same product. */
const EQUAL = 1e-9;

/** The ways to make paths. */
export const SAMPLINGS = ["shuffled", "resampled", "stationary_blocks", "candle_blocks"] as const;
export type Sampling = (typeof SAMPLINGS)[number];

/** One figure over all paths, and where the real run lies. */
interface FigureSummary {
  readonly real: number | null;
  /** The share of the paths with less than the real run, and half of those with the same; null without one of both. */
  readonly percentile: number | null;
  /** Null where no path has the figure. */
  readonly quantiles: { readonly [name in QuantileName]: number } | null;
  /** How many paths the figure is defined for. */
  readonly paths: number;
}

/** The figures of many paths. */
export interface Sample {
  readonly sampling: Sampling;
  readonly figures: { readonly [name in FigureName]: FigureSummary };
  /** The share of the paths that end below the initial balance. */
  readonly probability_of_loss: number;
  /** The share of the paths that are ruined at some time: they lose the share of their peak that the request calls ruin. */
  readonly probability_of_ruin: number;
  /** The equity of the real run and of the paths, a quantile of all paths at each point. */
  readonly curves:
    & {
      /** How many trades, days or candles are over. */
      readonly positions: readonly number[];
      readonly real: readonly number[];
    }
    & { readonly [name in QuantileName]: readonly number[] };
}

/** Most paths of a sample whose curves are kept: 1,000 of 100 points have 0.8 MB. */
const CURVES_KEPT_MAX = 1_000;

/** The figures that are kept of each path of a sample. */
export interface KeptPaths {
  readonly sampling: Sampling;
  /** By name; NaN where a path has none. */
  readonly figures: Readonly<Record<FigureName, Float64Array>>;
  /** `equity` of the first paths at the positions of the sample's curves, path by path. */
  readonly curves: { readonly equity: Float64Array };
}

/** The name of the series of a sample's figures, and of that of its curves. */
export const figuresName = (sampling: Sampling) => `figures of ${sampling}`;
export const curvesName = (sampling: Sampling) => `curves of ${sampling}`;

/** A sample with its paths, which are stored apart from it. */
export interface MadeSample {
  readonly sample: Sample;
  readonly kept: KeptPaths;
}

/** Collects the paths of one way to make them. */
export class SampleCollector {
  /** Where the curves of all paths are read. */
  readonly positions: readonly number[];
  readonly #sampling: Sampling;
  readonly #initialBalance: number;
  readonly #ruinDrawdown: number;
  readonly #runs: number;
  readonly #figures: Readonly<Record<FigureName, Float64Array>>;
  /** A column for each point of the curves. */
  readonly #equity: readonly Float64Array[];
  #count = 0;

  /** @param runs The most paths. @param length Of each path's equity. */
  constructor({ sampling, runs, length, initialBalance, ruinDrawdown }: {
    readonly sampling: Sampling;
    readonly runs: number;
    readonly length: number;
    readonly initialBalance: number;
    readonly ruinDrawdown: number;
  }) {
    this.#sampling = sampling;
    this.#initialBalance = initialBalance;
    this.#ruinDrawdown = ruinDrawdown;
    this.#runs = runs;
    this.positions = chooseCurvePositions(length);
    const column = () => new Float64Array(runs);
    this.#figures = { final_equity: column(), max_drawdown: column(), sharpe: column(), losing_streak: column() };
    this.#equity = this.positions.map(column);
  }

  add({ figures, curve }: MeasuredPath): void {
    if (this.#count === this.#runs) throw new RangeError(`Cannot add another path: there are ${this.#runs} already`);
    for (const name of FIGURE_NAMES) this.#figures[name][this.#count] = figures[name] ?? NaN;
    for (const [i, column] of this.#equity.entries()) column[this.#count] = curve[i]!;
    this.#count++;
  }

  /** The sample, and what is kept of its paths. The real run must be measured as they are. */
  finish(real: MeasuredPath): MadeSample {
    const points = this.#equity.length;
    const equity = new Float64Array(Math.min(this.#count, CURVES_KEPT_MAX) * points);
    for (let i = 0; i < equity.length; i++) equity[i] = this.#equity[i % points]![Math.floor(i / points)]!;
    const figures = {
      final_equity: this.#ofPaths("final_equity").slice(),
      max_drawdown: this.#ofPaths("max_drawdown").slice(),
      sharpe: this.#ofPaths("sharpe").slice(),
      losing_streak: this.#ofPaths("losing_streak").slice(),
    };
    const sample = this.#summarize(real);
    return { sample, kept: { sampling: this.#sampling, figures, curves: { equity } } };
  }

  /** Sums up the paths, of which there is one at least. */
  #summarize({ figures: real, curve: realCurve }: MeasuredPath): Sample {
    const [finals, drawdowns] = [this.#ofPaths("final_equity"), this.#ofPaths("max_drawdown")];
    const share = (values: Float64Array, counts: (value: number) => boolean) =>
      values.filter(counts).length / this.#count;
    const initial = this.#initialBalance;
    const sorted = this.#equity.map((column) => column.slice(0, this.#count).sort());
    const curve = (name: QuantileName) => sorted.map((column) => quantile(column, QUANTILES[name]));
    return {
      sampling: this.#sampling,
      figures: {
        final_equity: this.#summarizeFigure("final_equity", real),
        max_drawdown: this.#summarizeFigure("max_drawdown", real),
        sharpe: this.#summarizeFigure("sharpe", real),
        losing_streak: this.#summarizeFigure("losing_streak", real),
      },
      probability_of_loss: share(finals, (value) => value < initial && !isEqual(value, initial)),
      probability_of_ruin: share(
        drawdowns,
        (value) => value >= this.#ruinDrawdown || isEqual(value, this.#ruinDrawdown),
      ),
      curves: {
        positions: this.positions,
        real: [...realCurve],
        p05: curve("p05"),
        p25: curve("p25"),
        p50: curve("p50"),
        p75: curve("p75"),
        p95: curve("p95"),
      },
    };
  }

  #summarizeFigure(name: FigureName, { [name]: real }: PathFigures): FigureSummary {
    const values = this.#ofPaths(name).filter((value) => !Number.isNaN(value)).sort();
    if (values.length === 0) return { real, percentile: null, quantiles: null, paths: 0 };
    const quantiles = {
      p05: quantile(values, QUANTILES.p05),
      p25: quantile(values, QUANTILES.p25),
      p50: quantile(values, QUANTILES.p50),
      p75: quantile(values, QUANTILES.p75),
      p95: quantile(values, QUANTILES.p95),
    };
    return { real, percentile: real === null ? null : percentileOf(real, values), quantiles, paths: values.length };
  }

  /** A figure of the paths that were added. */
  #ofPaths(name: FigureName): Float64Array {
    return this.#figures[name].subarray(0, this.#count);
  }
}

function percentileOf(real: number, values: Float64Array): number {
  let below = 0;
  let equal = 0;
  for (const value of values) {
    if (isEqual(value, real)) equal++;
    else if (value < real) below++;
  }
  return (below + equal / 2) / values.length;
}

function isEqual(a: number, b: number): boolean {
  return Math.abs(a - b) <= EQUAL * Math.max(Math.abs(a), Math.abs(b));
}
