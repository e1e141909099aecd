import { type Execution, type ExecutionRequest, resolveExecution } from "../../../engine/execution.ts";
import type { Random } from "./random.ts";

/**
 * Settings drawn from all that a client may ask for: each key is left at its profile's value about as often as not.
 *
 * @param scale What the market's prices are multiplied with, beside usual ones.
 */
export function randomExecution(random: Random, scale: number): Execution {
  const { pick, chance, between } = random;
  const maybe = <T>(probability: number, value: () => T) => chance(probability) ? value() : undefined;
  const request: ExecutionRequest = {
    profile: chance(0.15) ? "backtesting.py" : "hindcast",
    fill: maybe(0.3, () => "close"),
    quantityStep: maybe(0.6, () => pick([1e-8, 0.01, 0.1, 1, 1, 3, 0.3])),
    sizing: maybe(0.5, () => randomSizing(random)),
    fractionOf: maybe(0.2, () => pick(["equity", "free_margin"])),
    sizingPrice: maybe(0.2, () => pick(["fill", "signal_close"])),
    sizingMark: maybe(0.2, () => pick(["fill", "close"])),
    sizingFee: maybe(0.2, () => pick(["order", "one_lot"])),
    commission: maybe(0.5, () => randomCommission(random)),
    spread: maybe(0.4, () => between(0, 0.01)),
    spreadOn: maybe(0.4, () => pick(["both", "entry"])),
    slippage: maybe(0.4, () => randomSlippage(random, scale)),
    leverage: maybe(0.4, () => pick([1, 1.5, 2, 5, 20])),
    marginCall: maybe(0.3, () => chance(0.5)),
    maintenanceMargin: maybe(0.3, () => pick([0, 0.1, 0.5, 0.9, 1])),
    allowShort: maybe(0.3, () => chance(0.3)),
    borrowRate: maybe(0.2, () => between(0, 1)),
    fundingRate: maybe(0.2, () => between(-0.002, 0.002)),
    limitFill: maybe(0.3, () => pick(["touch", "penetrate"])),
    bothTouched: maybe(0.7, () => pick(["stop_first", "target_first", "nearest", "magnify"])),
    openDecides: maybe(0.2, () => chance(0.5)),
    entryCandleExit: maybe(0.4, () => pick<boolean | "same_direction">([true, false, "same_direction"])),
    exclusive: maybe(0.6, () => pick(["opposite", "any", "off"])),
    closeAtEnd: maybe(0.5, () => pick(["none", "last_open", "last_close"])),
    marginRate: maybe(0.2, () => between(0, 1)),
    cashRate: maybe(0.2, () => between(0, 1)),
  };
  return resolveExecution(request, "crypto");
}

function randomSizing(random: Random): Execution["sizing"] {
  const type = random.pick(["equity_fraction", "units", "cash", "risk_fraction"] as const);
  const value = {
    equity_fraction: random.pick([1, 0.5, 0.1, 2]),
    units: random.pick([1, 0.5, 7]),
    cash: random.pick([500, 2000]),
    risk_fraction: random.pick([0.01, 0.05]),
  }[type];
  return { type, value };
}

function randomCommission(random: Random): ExecutionRequest["commission"] {
  if (random.chance(0.4)) return random.pick([0.001, 0.01]);
  return {
    rate: random.chance(0.5) ? random.between(0, 0.01) : undefined,
    fixed: random.chance(0.4) ? random.between(0, 5) : undefined,
    perUnit: random.chance(0.4) ? random.between(0, 0.1) : undefined,
    minimum: random.chance(0.4) ? random.between(0, 10) : undefined,
    maximumRate: random.chance(0.3) ? random.between(0.001, 0.02) : undefined,
  };
}

function randomSlippage(random: Random, scale: number): Execution["slippage"] {
  return random.pick<Execution["slippage"]>([
    { bps: random.between(0, 50) },
    { ticks: random.whole(1, 3), tickSize: 0.01 * scale },
    { volumeShare: random.pick([0.001, 0.01, 0.1]), impact: random.between(0, 0.3) },
  ]);
}
