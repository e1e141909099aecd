import { z } from "zod";
import { METRIC_DEFINITIONS } from "../engine/metrics/definitions.ts";
import { METRICS_ID } from "./backtests/backtest_result.ts";

/** A JSON Schema of draft 2020-12. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * The JSON Schema of a request's or an answer's schema. Schemas that have an `id` are in `$defs`.
 *
 * @param side `input` is what a client sends, `output` what it gets.
 */
export function toJsonSchema(schema: z.ZodType, side: "input" | "output"): JsonSchema {
  return z.toJSONSchema(schema, {
    io: side,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      // A number in a query arrives as text; its bounds are on the other side of the pipe.
      if (zodSchema instanceof z.ZodPipe && zodSchema.def.out instanceof z.ZodNumber) {
        replace(jsonSchema, toJsonSchema(zodSchema.def.out, side));
      }
      // Its pattern would say the same at ten times the length.
      if (typeof jsonSchema.format === "string") Reflect.deleteProperty(jsonSchema, "pattern");
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) Reflect.deleteProperty(jsonSchema, "maximum");
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) Reflect.deleteProperty(jsonSchema, "minimum");
      if (z.globalRegistry.get(zodSchema)?.id === METRICS_ID) replace(jsonSchema, metricsSchema());
    },
  });
}

function replace(schema: JsonSchema, { $schema: _version, ...by }: JsonSchema): void {
  for (const key of Object.keys(schema)) Reflect.deleteProperty(schema, key);
  Object.assign(schema, by);
}

function metricsSchema(): JsonSchema {
  const properties = Object.entries(METRIC_DEFINITIONS).map(([name, definition]) => {
    const { label, meaning, formula, unit, format, better, undefinedWhen } = definition;
    const without = undefinedWhen.length === 0 ? "" : ` Null when ${undefinedWhen.join(", or ")}.`;
    const side = better === null ? "" : ` ${better === "more" ? "More" : "Less"} is better.`;
    const description = `${meaning} Unit: ${unit}. Formula: ${formula}.${side}${without}`;
    return [
      name,
      format === "date"
        ? { title: label, type: "string", format: "date-time", description }
        : { title: label, type: ["number", "null"], description },
    ];
  });
  return {
    id: METRICS_ID,
    type: "object",
    description: "The metrics of a run, each with its definition; `undefined_metrics` has the reason of each null.",
    properties: Object.fromEntries(properties),
    required: Object.keys(METRIC_DEFINITIONS),
  };
}
