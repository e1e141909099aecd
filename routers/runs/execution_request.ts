import { z } from "zod";
import {
  BOTH_TOUCHED,
  CLOSES_AT_END,
  EXCLUSIVES,
  FILLS,
  FRACTIONS_OF,
  LIMIT_FILLS,
  PROFILES,
  SIZING_FEES,
  SIZING_MARKS,
  SIZING_PRICES,
  SIZING_TYPES,
  SLIPPAGE_KINDS,
  type SlippageSettings,
  SPREADS_ON,
  STOP_GAPS,
} from "../../engine/execution.ts";
import type { SettingBounds } from "../../engine/rules/slippage/slippage_model.ts";
import { mustBe } from "../common/errors.ts";
import { inputObject } from "../common/input_object.ts";
import { currencySchema } from "../market_data/currency.ts";
import { marketNameSchema } from "../market_data/market_name.ts";

const MONEY_MAX = 1e12;
const DELAY_CANDLES_MAX = 100;

const fraction = z.number().min(0).max(1);
const money = z.number().min(0).max(MONEY_MAX);
const positive = z.number().positive().max(MONEY_MAX);
// A price may not be worsened to nothing, or a sale would pay.
const partOfPrice = z.number().min(0).max(0.5);

/** The schema of settings that a table of the engine bounds. */
function settingsSchema<Settings>(
  bounds: { readonly [Name in keyof Settings]: SettingBounds },
): z.ZodType<Settings, Settings>;
function settingsSchema(bounds: Readonly<Record<string, SettingBounds>>): z.ZodType {
  const fields = Object.entries(bounds).map(([name, { isPositive, maximum }]) => {
    const number = z.number();
    return [name, (isPositive ? number.positive() : number.min(0)).max(maximum)] as const;
  });
  return z.strictObject(Object.fromEntries(fields));
}

const sizingSchema = z.strictObject({ type: z.enum(SIZING_TYPES), value: positive })
  .refine((sizing) => sizing.type !== "risk_fraction" || sizing.value <= 1, {
    path: ["value"],
    message: "must be a fraction of equity, at most 1",
  })
  .refine((sizing) => sizing.type !== "equity_fraction" || sizing.value <= 100, {
    path: ["value"],
    message: "must be a fraction of equity, at most 100",
  });

const commissionSchema = z.union([
  partOfPrice,
  inputObject({
    rate: partOfPrice.optional(),
    fixed: money.optional(),
    perUnit: money.optional(),
    minimum: money.optional(),
    maximumRate: partOfPrice.nullable().optional(),
  }),
], mustBe("a rate from 0 to 0.5, or an object of rate, fixed, perUnit, minimum and maximumRate, none below 0"));

const slippageSchema = z.union([
  z.literal(0),
  ...SLIPPAGE_KINDS.map(({ settings }) => settingsSchema<SlippageSettings>(settings)),
], mustBe(new Intl.ListFormat("en", { type: "disjunction" }).format(["0", ...SLIPPAGE_KINDS.map(({ form }) => form)])));

/**
 * `parameters.execution` as a client may send it: any of the keys of engine/execution.ts, where each is explained. An
 * echoed, complete one is accepted as well.
 */
export const executionRequestSchema = inputObject(
  z.strictObject({
    profile: z.enum(PROFILES),
    fill: z.enum(FILLS),
    delay: z.int().min(0).max(DELAY_CANDLES_MAX),
    quantityStep: positive,
    sizing: sizingSchema,
    fractionOf: z.enum(FRACTIONS_OF),
    sizingPrice: z.enum(SIZING_PRICES),
    sizingMark: z.enum(SIZING_MARKS),
    sizingFee: z.enum(SIZING_FEES),
    commission: commissionSchema,
    spread: partOfPrice,
    spreadOn: z.enum(SPREADS_ON),
    slippage: slippageSchema,
    leverage: z.number().min(1).max(1000),
    marginCall: z.boolean(),
    maintenanceMargin: fraction,
    allowShort: z.boolean(),
    borrowRate: z.number().min(0).max(10),
    marginRate: z.number().min(0).max(10),
    cashRate: z.number().min(0).max(10),
    fundingRate: z.number().min(-0.1).max(0.1),
    limitFill: z.enum(LIMIT_FILLS),
    stopGap: z.enum(STOP_GAPS),
    bothTouched: z.enum(BOTH_TOUCHED),
    openDecides: z.boolean(),
    entryCandleExit: z.union([z.boolean(), z.literal("same_direction")], mustBe('true, false or "same_direction"')),
    exclusive: z.enum(EXCLUSIVES),
    closeAtEnd: z.enum(CLOSES_AT_END),
    lookback: z.boolean(),
    crossThroughTouch: z.boolean(),
    riskFreeRate: z.number().min(-1).max(1),
    baseCurrency: currencySchema.nullable(),
    benchmark: z.strictObject({ symbol: marketNameSchema, exchange: marketNameSchema }).nullable(),
    periodsPerYear: z.number().positive().max(366).nullable(),
  }).partial().shape,
);
