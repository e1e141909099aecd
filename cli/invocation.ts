import { relative } from "node:path";

/** The folder in which the user called the command: a task itself runs in the repository's folder. */
export function invocationFolder(): string {
  return Deno.env.get("INIT_CWD") ?? Deno.cwd();
}

/** Where a service listens on this machine: commands speak to it unless they are given another. */
export const SERVICE_URL = "http://127.0.0.1:8000";

/** Markets and dates of the sample for a first run of a strategy that decides on many. */
export const RANGE_OF_MANY = "ALDER@SAMPLE,OAK@SAMPLE 2023-01-01 2024-01-01 -t 1d";

/** The line that runs a strategy of many markets, where a failure says by its host's words that it is one; else null. */
export function manyMarketsInstead(verb: "run" | "test", failure: string, target: string): string | null {
  if (!failure.includes("decides on many markets: ")) return null;
  const file = relative(invocationFolder(), target);
  return `Cannot ${verb} ${file} over one market: it decides on many. Instead: hindcast run ${file} ${RANGE_OF_MANY}`;
}
