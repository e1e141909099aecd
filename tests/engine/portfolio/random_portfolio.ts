import type { Candles } from "../../../engine/candles.ts";
import { type Execution, resolveExecution } from "../../../engine/execution.ts";
import type { PortfolioMarket, PortfolioRequest, RateColumns } from "../../../engine/portfolio/portfolio.ts";
import { newDraft } from "../../../engine/strategy.ts";
import { mixSeeds, type Random, randomFrom } from "../properties/random.ts";
import type { NaivePortfolio } from "./naive.ts";
import type { NaiveAct, NaiveMarket, NaiveRules } from "./naive_types.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** The same run for the engine and for the naive simulator. */
export interface RandomPortfolio {
  readonly request: PortfolioRequest;
  readonly markets: readonly NaiveMarket[];
  readonly rules: NaiveRules;
  readonly decide: (instant: number, portfolio: NaivePortfolio) => readonly NaiveAct[];
}

type Single = Exclude<NaiveAct, { kind: "weights" }>;

/** Run number `n` of a seed, each time the same. */
export function randomPortfolio(seed: number, n: number): RandomPortfolio {
  const random = randomFrom(mixSeeds(seed, n));
  const count = random.whole(1, 6);
  const days = random.whole(15, 60);
  const currencies = random.chance(0.3) ? [randomRates(random, days)] : [];
  const inputs = Array.from({ length: count }, (_, k) => randomMarket(random, `M${k}@X`, days, currencies.length));
  const rules = randomRules(random, count);
  const isEach = random.chance(0.5);
  const slots = isEach ? Math.min(rules.positionsMax, count) : 1;
  const request = {
    markets: inputs,
    timeframeMs: DAY_MS,
    initialBalance: rules.balance,
    execution: executionOf(rules, rules.size * slots),
    currencies,
    control: null,
  };
  const markets = inputs.map((input) => naiveOf(input, currencies));
  const plan = isEach ? planEach(random, inputs, rules) : planAll(random, inputs);
  return {
    request: { ...request, strategy: plan.strategy },
    markets,
    rules: isEach ? rules : { ...rules, positionsMax: Infinity },
    decide: plan.decide,
  };
}

function randomRules(random: Random, count: number): NaiveRules {
  return {
    balance: random.between(9000, 11_000),
    rate: random.pick([0, 0.001]),
    fixed: random.pick([0, 0, 1.5]),
    bps: random.pick([0, 5]),
    spread: random.pick([0, 0.001]),
    leverage: random.pick([1, 1, 2, 5]),
    maintenance: random.pick([0.5, 0.9]),
    lot: random.pick([0.001, 0.01, 1]),
    positionsMax: random.whole(1, count),
    size: random.pick([0.1, 0.3, 0.6]),
  };
}

function executionOf(rules: NaiveRules, size: number): Execution {
  return resolveExecution({
    commission: { rate: rules.rate, fixed: rules.fixed },
    slippage: rules.bps === 0 ? 0 : { bps: rules.bps },
    spread: rules.spread,
    leverage: rules.leverage,
    maintenanceMargin: rules.maintenance,
    quantityStep: rules.lot,
    sizing: { type: "equity_fraction", value: size },
  }, "crypto");
}

/** A market of whole days or of a weekday's session, perhaps with gaps, a late begin, an early end, dates and a currency. */
function randomMarket(random: Random, id: string, days: number, currencies: number): PortfolioMarket {
  const isStock = random.chance(0.4);
  const first = random.chance(0.2) ? random.whole(1, days - 5) : 0;
  const end = random.chance(0.2) ? random.whole(first + 3, days) : days;
  const gaps = random.chance(0.3) ? 0.2 : 0;
  const traded = Array.from({ length: end - first }, (_, k) => first + k)
    .filter((day) => !isStock || day % 7 < 5).filter((_, k) => k === 0 || !random.chance(gaps));
  const [opens, length] = isStock ? [14.5 * HOUR_MS, 6.5 * HOUR_MS] : [0, DAY_MS];
  const time = Float64Array.from(traded, (day) => day * DAY_MS + opens);
  const member = random.whole(0, days - 1);
  return {
    id,
    symbol: id.slice(0, 2),
    exchange: "X",
    candles: randomCandles(random, time),
    firstIndex: 0,
    hours: isStock ? { opens: time, closes: time.map((open) => open + length) } : null,
    memberships: random.chance(0.3)
      ? [{ from: member * DAY_MS, until: (member + random.whole(1, 30)) * DAY_MS }]
      : null,
    isDelisted: random.chance(0.5) && end < days,
    currency: currencies > 0 && random.chance(0.5) ? 0 : null,
  };
}

function randomCandles(random: Random, time: Float64Array): Candles {
  const column = () => new Float64Array(time.length);
  const candles = { time, open: column(), high: column(), low: column(), close: column(), volume: column() };
  for (let i = 0, price = random.pick([3, 100, 5000]); i < time.length; i++) {
    const open = price * random.between(0.97, 1.03);
    const close = open * random.between(0.93, 1.07);
    candles.open[i] = open;
    candles.close[i] = close;
    candles.high[i] = Math.max(open, close) * random.between(1, 1.04);
    candles.low[i] = Math.min(open, close) * random.between(0.96, 1);
    candles.volume[i] = 1000;
    price = close;
  }
  return candles;
}

function randomRates(random: Random, days: number): RateColumns {
  const time = Float64Array.from({ length: days + 1 }, (_, k) => (k - 1) * DAY_MS);
  let rate = 1.2;
  return { time, rate: time.map(() => rate *= random.between(0.98, 1.02)) };
}

function naiveOf(
  { id, candles, hours, memberships, isDelisted, currency }: PortfolioMarket,
  currencies: readonly RateColumns[],
): NaiveMarket {
  const rates = (currency ?? null) === null ? null : currencies[currency!]!;
  return {
    id,
    candles: Array.from(candles.time, (opens, i) => ({
      opens,
      closes: hours?.closes[i] ?? opens + DAY_MS,
      open: candles.open[i]!,
      high: candles.high[i]!,
      low: candles.low[i]!,
      close: candles.close[i]!,
    })),
    members: memberships?.map(({ from, until }) => [from, until] as const) ?? null,
    isDelisted: isDelisted ?? false,
    rates: rates === null ? null : Array.from(rates.time, (from, k) => [from, rates.rate[k]!] as const),
  };
}

function randomAct(random: Random, id: string): Single | null {
  if (random.chance(0.75)) return null;
  if (random.chance(0.3)) return { kind: "close", id };
  const guard = (distance: number) => random.chance(0.5) ? random.between(0.2, 1) * distance : NaN;
  return { kind: "enter", id, side: random.chance(0.6) ? 1 : -1, stop: guard(0.1), target: guard(0.1) };
}

type Plan = Pick<RandomPortfolio, "decide"> & { readonly strategy: PortfolioRequest["strategy"] };

/** Acts of each market at its own closes. */
function planEach(random: Random, inputs: readonly PortfolioMarket[], { positionsMax }: NaiveRules): Plan {
  const acts = new Map(inputs.map(({ id, candles }) => [id, Array.from(candles.time, () => randomAct(random, id))]));
  return {
    strategy: {
      kind: "each",
      positionsMax,
      rank: "listed",
      strategies: inputs.map(({ id }) => ({
        warmup: 1,
        prepare() {},
        decide: (i, _account, book) => perform(acts.get(id)![i] ?? null, book),
      })),
    },
    decide: (instant, { markets }) =>
      markets.flatMap(({ id, candles }) => {
        const i = candles.findIndex(({ closes }) => closes === instant);
        return i < 0 ? [] : [acts.get(id)![i] ?? null].filter((act) => act !== null);
      }),
  };
}

/** Weights, now and then, and orders of single markets, by the instant. */
function planAll(random: Random, inputs: readonly PortfolioMarket[]): Plan {
  const seed = random.whole(1, 1e9);
  const hasSingles = random.chance(0.3);
  const gross = random.pick([0.5, 1, 1.3]);
  const shorts = random.chance(0.3);
  const actsAt = (instant: number): NaiveAct[] => {
    const now = randomFrom(mixSeeds(seed, instant / HOUR_MS));
    const acts: NaiveAct[] = [];
    if (hasSingles) {
      const single = randomAct(now, now.pick([inputs[0]!, ...inputs]).id);
      if (single !== null) acts.push(single);
    }
    if (!now.chance(0.25)) return acts;
    const parts = inputs.map(() => now.chance(0.3) ? 0 : now.next() * (shorts && now.chance(0.3) ? -1 : 1));
    const sum = parts.reduce((total, part) => total + Math.abs(part), 0) || 1;
    const isPartial = now.chance(0.2);
    const named = inputs.map(({ id }, k) => [id, parts[k]! / sum * gross] as const).filter(() =>
      !isPartial || now.chance(0.5)
    );
    return [...acts, { kind: "weights", weights: Object.fromEntries(named), minTrade: now.pick([0, 0, 0.05]) }];
  };
  return {
    strategy: {
      kind: "portfolio",
      warmup: 1,
      every: null,
      prepare() {},
      decide(instant, markets, _account, orders) {
        for (const act of actsAt(instant)) {
          if (act.kind !== "weights") perform(act, orders.of(markets.findIndex(({ id }) => id === act.id)));
          else orders.target(Float64Array.from(markets, ({ id }) => act.weights[id] ?? NaN), act.minTrade);
        }
      },
    },
    decide: actsAt,
  };
}

function perform(
  act: Single | null,
  book: { place(draft: ReturnType<typeof newDraft>): number; close(fraction: number, tag: null): number },
): void {
  if (act === null) return;
  if (act.kind === "close") return void book.close(1, null);
  const { side, stop, target } = act;
  book.place({ ...newDraft(), side, stopLossFraction: stop, takeProfitFraction: target });
}
