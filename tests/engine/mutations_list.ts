import { MUTATIONS_OF_BOOKS } from "./mutations_of_books.ts";
import { MUTATIONS_OF_COSTS } from "./mutations_of_costs.ts";
import { MUTATIONS_OF_PATHS } from "./mutations_of_paths.ts";
import { MUTATIONS_OF_PORTFOLIOS } from "./mutations_of_portfolios.ts";

/** The files and folders that the tests of a broken engine need. */
export const COPIED = [
  "db",
  "engine",
  "market/feeds",
  "market/nearest_name.ts",
  "research",
  "routers",
  "strategies/builtin",
  "tests/engine",
  "workers/rows/rows_closed.ts",
  "deno.json",
  "deno.lock",
];

/** One line changed on purpose: the tests must notice. */
export interface Mutation {
  /** The rule that it breaks. */
  readonly rule: string;
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly text: string;
  readonly replacement: string;
}

/** Every rule of the simulator, broken. */
export const MUTATIONS: readonly Mutation[] = [
  ...MUTATIONS_OF_COSTS,
  ...MUTATIONS_OF_PATHS,
  ...MUTATIONS_OF_BOOKS,
  ...MUTATIONS_OF_PORTFOLIOS,
];
