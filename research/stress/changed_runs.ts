/** The changes of a run's settings that a stress test tries. */
import type { Execution } from "../../engine/execution.ts";
import { type Slippage, slippageModelOf } from "../../engine/rules/slippage/slippage_models.ts";
import { countDecimals, fromUnits, toUnits } from "../decimal.ts";
import { describeMisfit, propertiesOf, stepOf } from "../parse_space.ts";
import type { StressGroup } from "./stress_table.ts";

type Parameters = Readonly<Record<string, unknown>>;

/** A run that differs in one thing. */
export interface ChangedRun {
  readonly group: StressGroup;
  readonly name: string;
  readonly execution: Execution;
  /** The strategy's own. */
  readonly own: Parameters;
}

/** The prices of a market. */
interface Ticks {
  readonly tick: number;
  readonly price: number;
}

/** Most parameters that are moved: an endpoint is called anew for each run. */
const PARAMETERS_MAX = 16;
const MULTIPLES = [0, 2, 4];
/** The share of a parameter's value by which it is moved, where a step is smaller. */
const ASIDE = 0.1;
/** Beyond it, a cost is no longer accepted. */
export const COST_MAX = 0.5;
const TICK_DECIMALS_MAX = 8;

/**
 * Lists the runs of a stress test, the unchanged one first.
 *
 * @param schema The strategy's parameter_schema; null where it is not known.
 * @param market `tick`: the step of its prices; `price`: a typical one. Null for many markets.
 */
export function listChangedRuns(
  { execution, own }: Pick<ChangedRun, "execution" | "own">,
  schema: Parameters | null,
  market: Ticks | null,
): ChangedRun[] {
  const change = (group: StressGroup, name: string, changed: Partial<Execution>): ChangedRun => ({
    group,
    name,
    execution: { ...execution, ...changed },
    own,
  });
  return [
    change("as_run", "As it ran", {}),
    ...(hasCosts(execution) ? MULTIPLES : []).map((times) =>
      change("costs", times === 0 ? "Without costs" : `Costs x ${times}`, timesCosts(execution, times))
    ),
    change("fills", "Orders reach the market a candle later", { delay: (execution.delay ?? 0) + 1 }),
    ...(market === null
      ? []
      : [change("fills", `Fills a tick worse (${market.tick})`, { slippage: addTick(execution.slippage, market) })]),
    ...listStepsAside(own, schema).map(({ name, value }): ChangedRun => ({
      group: "parameters",
      name: `${name} ${value} instead of ${own[name]}`,
      execution,
      own: { ...own, [name]: value },
    })),
  ];
}

/** True if a run pays anything besides prices. */
export function hasCosts(execution: Execution): boolean {
  const { commission: { rate, fixed, perUnit, minimum }, spread, slippage } = execution;
  const { borrowRate, marginRate, fundingRate } = execution;
  const rates = [rate, fixed, perUnit, minimum, spread, borrowRate, marginRate, fundingRate];
  return slippage !== 0 || rates.some((each) => each !== 0);
}

/** All costs of a run, times a factor. Fractions of prices stay below one half. */
function timesCosts(execution: Execution, times: number): Partial<Execution> {
  const { commission, spread, slippage, borrowRate, marginRate, fundingRate } = execution;
  const part = (share: number) => Math.min(COST_MAX, share * times);
  return {
    commission: {
      rate: part(commission.rate),
      fixed: commission.fixed * times,
      perUnit: commission.perUnit * times,
      minimum: commission.minimum * times,
      maximumRate: commission.maximumRate === null ? null : part(commission.maximumRate),
    },
    spread: part(spread),
    slippage: slippage === 0 || times === 0 ? 0 : slippageModelOf(slippage).times(times),
    borrowRate: borrowRate * times,
    marginRate: marginRate * times,
    fundingRate: fundingRate * times,
  };
}

function addTick(slippage: Slippage, { tick, price }: Ticks): Slippage {
  return slippage === 0 ? { ticks: 1, tickSize: tick } : slippageModelOf(slippage).withTick(tick, price);
}

/** A run with a higher commission rate on each fill. */
export function addCost(execution: Execution, rate: number): Execution {
  const { commission } = execution;
  const maximumRate = commission.maximumRate === null ? null : commission.maximumRate + rate;
  return { ...execution, commission: { ...commission, rate: commission.rate + rate, maximumRate } };
}

/** Each number among the parameters, moved to both sides by a tenth, in whole steps and by one at least, where its schema allows it. */
function listStepsAside(own: Parameters, schema: Parameters | null): { name: string; value: number }[] {
  if (schema === null) return [];
  const properties = propertiesOf(schema);
  const numeric = Object.entries(own).filter(([name, value]) => typeof value === "number" && name in properties);
  return numeric.slice(0, PARAMETERS_MAX).flatMap(([name, value]) => {
    const rules = Object(properties[name]);
    return [-1, 1].flatMap((side) => {
      // Of a parameter that no rule describes, a whole number stays one.
      const isWhole = Object.keys(rules).length === 0 && Number.isInteger(value);
      const moved = moveAside(Number(value), side, isWhole ? 1 : stepOf(rules));
      return moved === null || describeMisfit(moved, rules) !== null ? [] : [{ name, value: moved }];
    });
  });
}

function moveAside(value: number, side: number, step: number | undefined): number | null {
  const distance = Math.abs(value) * ASIDE;
  if (step === undefined) return distance === 0 ? null : Number((value + side * distance).toPrecision(12));
  const decimals = countDecimals([value, step]);
  const [units, each] = [toUnits(value, decimals), toUnits(step, decimals)];
  if (units === undefined || each === undefined) return null;
  return fromUnits(units + side * each * Math.max(1, Math.round(distance / step)), decimals);
}

/** The step of prices, by their digits: 0.01 of 12.34; and a typical price. @param prices Not empty. */
export function measureTick(prices: Float64Array): Ticks {
  const seen = prices.subarray(-1000);
  const decimals = seen.reduce((most, price) => {
    const [, digits = ""] = price.toFixed(TICK_DECIMALS_MAX).replace(/0+$/, "").split(".");
    return Math.max(most, digits.length);
  }, 0);
  return { tick: Number(`1e-${decimals}`), price: seen.toSorted()[seen.length >> 1]! };
}
