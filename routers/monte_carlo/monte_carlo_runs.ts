import { type MonteCarlo, monteCarloRecords } from "../../db/monte_carlos.ts";
import { Runs } from "../runs/runs.ts";
import { toMonteCarlo } from "./monte_carlo_records.ts";

/** Monte Carlo simulations, as their owners find and follow them. */
export const monteCarloRuns = new Runs<MonteCarlo>(monteCarloRecords, {
  notFound: "MONTE_CARLO_NOT_FOUND",
  check: toMonteCarlo,
});
