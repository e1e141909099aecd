/** Settings of execution as parameters of a space, such as `execution.commission`. */
import { type Execution, FILLS, LIMIT_FILLS } from "../engine/execution.ts";

type Values = Readonly<Record<string, unknown>>;
type Change = (execution: Execution, value: never) => Partial<Execution>;

interface Setting {
  /** The rules of the values, as in a parameter_schema. */
  readonly rules: Values;
  readonly change: Change;
}

const fraction = { type: "number", minimum: 0, maximum: 0.5 };

const SETTINGS: Readonly<Record<string, Setting>> = {
  "execution.commission": {
    rules: fraction,
    change: ({ commission }, rate: number) => ({ commission: { ...commission, rate } }),
  },
  "execution.spread": { rules: fraction, change: (_, spread: number) => ({ spread }) },
  "execution.slippage.bps": {
    rules: { type: "number", minimum: 0, maximum: 5000 },
    change: (_, bps: number) => ({ slippage: { bps } }),
  },
  "execution.delay": {
    rules: { type: "integer", minimum: 0, maximum: 100 },
    change: (_, delay: number) => ({ delay }),
  },
  "execution.leverage": {
    rules: { type: "number", minimum: 1, maximum: 1000 },
    change: (_, leverage: number) => ({ leverage }),
  },
  "execution.fill": {
    rules: { type: "string", enum: FILLS },
    change: (_, fill: Execution["fill"]) => ({ fill }),
  },
  "execution.limitFill": {
    rules: { type: "string", enum: LIMIT_FILLS },
    change: (_, limitFill: Execution["limitFill"]) => ({ limitFill }),
  },
  "execution.allowShort": {
    rules: { type: "boolean" },
    change: (_, allowShort: boolean) => ({ allowShort }),
  },
};

/** The settings that a space may name. */
export const EXECUTION_AXES: readonly string[] = Object.keys(SETTINGS);

/** True if a parameter of a space is a setting of execution. */
export function isExecutionAxis(name: string): boolean {
  return Object.hasOwn(SETTINGS, name);
}

/** A strategy's schema with the settings of execution beside its parameters. */
export function withExecutionAxes(schema: Values): Values {
  const rules = Object.fromEntries(EXECUTION_AXES.map((name) => [name, SETTINGS[name]!.rules]));
  return { ...schema, properties: { ...Object(schema["properties"]), ...rules } };
}

/** Parameters without settings of execution. */
export function ownParameters<Value>(parameters: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  const names = Object.keys(parameters);
  if (!names.some(isExecutionAxis)) return parameters;
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !isExecutionAxis(name)));
}

/** The execution of a point: the same object where the point names no setting. @param point Its values fit their rules. */
export function executionOf(execution: Execution, point: Values): Execution {
  let changed = execution;
  for (const [name, value] of Object.entries(point)) {
    const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
    if (setting !== undefined) changed = { ...changed, ...Reflect.apply(setting.change, undefined, [changed, value]) };
  }
  return changed;
}
