/** Kinds of columns that several tables have: values that drizzle has no name for, and lists of values. */
import { customType, date, timestamp } from "drizzle-orm/pg-core";

export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });
export const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: "date" });
export const day = (name: string) => date(name, { mode: "string" });

/** Strategies whose code is stored with us. */
export const CODE_FORMATS = ["wasm", "script"] as const;

/** How code is checked before it is stored; scripts that are not in Python are in TypeScript. */
export const CHECK_FORMATS = ["wasm", "script", "python"] as const;

/** The statuses of a backtest, and of an optimization. */
export const BACKTEST_STATUSES = ["queued", "running", "completed", "failed", "cancelled"] as const;

/** The settings of a run of foreign code; `sha256` names a row of `modules`. */
export type SandboxRuntime =
  | {
    readonly type: (typeof CODE_FORMATS)[number];
    readonly sha256: string;
    readonly minCandles: number;
    readonly lookbackCandles: number;
    /** Of a script; absent: TypeScript. */
    readonly language?: "python";
    /** Present: the code decides on many markets at once; absent: on one. */
    readonly decidesOn?: "markets";
  }
  | {
    readonly type: "remote";
    readonly endpoint: string;
    /** `portfolio` decides on all markets of a run at once; the others on one. */
    readonly mode: "batch" | "step" | "portfolio";
    /** How often `portfolio` is asked; absent: at each mark. */
    readonly every?: "day" | "week" | "month" | "quarter";
    readonly timeoutMs: number;
    readonly minCandles: number;
    readonly lookbackCandles: number;
    /** The endpoint is another user's: only its owner may read its address. */
    readonly isForeign?: true;
    /** The user whose programs answer, where the endpoint is `serve:NAME`. */
    readonly servedBy?: string;
  };
