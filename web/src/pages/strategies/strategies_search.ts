/** The parts of the catalogue that can be shown alone. */
export const STRATEGY_KINDS = ["all", "built in", "yours", "public"] as const;
export type StrategyKind = (typeof STRATEGY_KINDS)[number];

export const ADD_WAYS = ["script", "wasm", "remote"] as const;
export type AddWay = (typeof ADD_WAYS)[number];

/** The state of the catalogue's page that its address keeps. */
interface StrategiesSearch {
  readonly kind?: StrategyKind;
  readonly add?: AddWay;
  /** Slug of the script with which a new one begins. */
  readonly from?: string;
}

const SLUG = /^[a-z0-9_-]{3,64}$/;

export function readStrategiesSearch({ kind, add, from }: Record<string, unknown>): StrategiesSearch {
  const chosen = STRATEGY_KINDS.find((each) => each === kind);
  const way = ADD_WAYS.find((each) => each === add);
  return {
    ...(chosen === undefined ? {} : { kind: chosen }),
    ...(way === undefined ? {} : { add: way }),
    ...(way === "script" && typeof from === "string" && SLUG.test(from) ? { from } : {}),
  };
}
