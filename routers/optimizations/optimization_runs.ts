import { type Optimization, optimizationRecords } from "../../db/optimizations.ts";
import { toOptimization } from "./optimization_records.ts";
import { Runs } from "../runs/runs.ts";

// Four times a second.
const PACE_MS = 250;

/** Optimizations, as their owners find and follow them: at most four changes a second, and the last one at once. */
export const optimizationRuns = new Runs<Optimization>(optimizationRecords, {
  notFound: "OPTIMIZATION_NOT_FOUND",
  check: toOptimization,
  paceMs: PACE_MS,
});
