import { getOptimization, type Optimization } from "../../db/optimizations.ts";
import { optimizationNotFound } from "./optimization_records.ts";
import { RecordFollower } from "../runs/record_follower.ts";

// Four times a second.
const PACE_MS = 250;

/** Follows optimizations: at most four changes a second, and the last one at once. */
export const optimizationFollower = new RecordFollower<Optimization>({
  name: "the optimization",
  watch: ({ queue }, id, onChange, onEnd) => queue.watchOptimization(id, onChange, onEnd),
  read: ({ db }, key) => getOptimization(db, key),
  notFound: optimizationNotFound,
  paceMs: PACE_MS,
});
