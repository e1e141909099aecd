import { expect } from "@std/expect";
import { PROFILE_DEFAULTS, PROFILES, resolveExecution } from "../../engine/execution.ts";
import { executionRequestSchema } from "../../routers/runs/execution_request.ts";
import { DAY_MS } from "./market.ts";

/** Paths and messages of a request's errors; empty when it is valid. */
function complain(request: unknown): string[] {
  const parsed = executionRequestSchema.safeParse(request);
  return parsed.error?.issues.map(({ path, message }) => `/${path.join("/")} ${message}`) ?? [];
}

Deno.test("an empty request is the hindcast profile with the asset class's year", () => {
  expect(resolveExecution({}, null)).toEqual(PROFILE_DEFAULTS.hindcast);
  expect(resolveExecution({}, "stock").periodsPerYear).toBe(252);
  expect(resolveExecution({}, "forex").periodsPerYear).toBe(260);
  expect(resolveExecution({}, "crypto").periodsPerYear).toBe(365);
  expect(resolveExecution({ periodsPerYear: 250 }, "stock").periodsPerYear).toBe(250);
  // A week of weekly candles gives one return, and not five or seven.
  expect(resolveExecution({}, "crypto", 7 * DAY_MS).periodsPerYear).toBe(52);
  expect(resolveExecution({}, "forex", null).periodsPerYear).toBe(12);
  expect(resolveExecution({ periodsPerYear: 50 }, "crypto", 7 * DAY_MS).periodsPerYear).toBe(50);
});

Deno.test("a profile is a set of defaults that further keys override", () => {
  const library = resolveExecution({ profile: "backtesting.py" }, null);
  expect(library).toMatchObject({
    quantityStep: 1,
    spreadOn: "entry",
    marginCall: false,
    exclusive: "any",
    lookback: false,
  });
  expect(resolveExecution({ profile: "backtesting.py", exclusive: "off" }, null)).toEqual({
    ...library,
    exclusive: "off",
  });
});

Deno.test("a commission is a rate, or any of its parts", () => {
  const none = PROFILE_DEFAULTS.hindcast.commission;
  expect(resolveExecution({ commission: 0.002 }, null).commission).toEqual({ ...none, rate: 0.002 });
  expect(resolveExecution({ commission: { fixed: 2 } }, null).commission).toEqual({ ...none, fixed: 2 });
});

Deno.test("echoed settings can be submitted again and resolve to themselves", () => {
  for (const profile of PROFILES) {
    const echoed = resolveExecution(
      { profile, commission: { fixed: 1, maximumRate: 0.01 }, slippage: { bps: 2 } },
      "stock",
    );
    const sent: unknown = JSON.parse(JSON.stringify(echoed));
    expect(resolveExecution(executionRequestSchema.parse(sent), "crypto")).toEqual(echoed);
  }
});

Deno.test("an undefined key counts as absent", () => {
  expect(resolveExecution({ fill: undefined, commission: { rate: undefined } }, null)).toEqual(
    PROFILE_DEFAULTS.hindcast,
  );
});

Deno.test("unknown keys are refused by name, wrong values by path", () => {
  expect(complain({ slipage: 1 })).toEqual(["/ is not a known key: did you mean slippage?"]);
  expect(complain({ sizing: { type: "units", value: 0 } })).toEqual([expect.stringContaining("/sizing/value")]);
  expect(complain({ sizing: { type: "risk_fraction", value: 2 } })).toEqual([
    "/sizing/value must be a fraction of equity, at most 1",
  ]);
  expect(complain({ commission: { rat: 0.1 } })).toEqual([
    "/commission is not a known key: did you mean rate? There are rate, fixed, perUnit, minimum, maximumRate",
  ]);
  expect(complain({ slippage: 1 })).toEqual([
    "/slippage must be 0, {bps} up to 5000, {ticks, tickSize}, or {volumeShare, impact} up to 1 and 0.5, not 1",
  ]);
  expect(complain({ fill: "open" })).toEqual([expect.stringContaining("/fill")]);
  for (
    const wrong of [
      { quantityStep: 0 },
      { commission: -0.1 },
      { commission: { rat: 0.1 } },
      { spread: 0.6 },
      { slippage: 1 },
      { slippage: { bps: 1, ticks: 2 } },
      { leverage: 0.5 },
      { maintenanceMargin: 1.1 },
      { periodsPerYear: 0 },
      { bothTouched: "both" },
      { entryCandleExit: "yes" },
    ]
  ) {
    expect(complain(wrong)).toHaveLength(1);
  }
});
