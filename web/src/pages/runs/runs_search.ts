/** The statuses, sorts and filters of the list of runs, as its address keeps them. */
export const RUN_STATUSES = ["queued", "running", "completed", "failed", "cancelled"] as const;
export const RUN_SORTS = ["created", "return", "sharpe", "drawdown"] as const;
export type RunSort = (typeof RUN_SORTS)[number];

/** Runs of "Change and see" have it until they are kept. */
export const TRY_TAG = "try";

/** The state of the list. */
export interface RunsSearch {
  readonly search?: string;
  readonly status?: (typeof RUN_STATUSES)[number];
  readonly strategy?: string;
  readonly symbol?: string;
  readonly tag?: string;
  readonly starred?: true;
  /** Changes of "Change and see" that were not kept are in the list. */
  readonly tries?: true;
  /** The rows stand under their strategy and market. */
  readonly grouped?: true;
  readonly sort?: RunSort;
  readonly order?: "asc" | "desc";
}

/** A change of the state; undefined removes. */
export type RunsChange = { readonly [Key in keyof RunsSearch]?: RunsSearch[Key] | undefined };

/** The state that an address keeps, without the defaults. */
export function readRunsSearch(address: Record<string, unknown>): RunsSearch {
  const status = RUN_STATUSES.find((each) => each === address["status"]);
  const sort = RUN_SORTS.find((each) => each === address["sort"]);
  return {
    ...readTexts(address),
    ...(status === undefined ? {} : { status }),
    ...(address["starred"] === true ? { starred: true } : {}),
    ...(address["tries"] === true ? { tries: true } : {}),
    ...(address["grouped"] === true ? { grouped: true } : {}),
    ...(sort === undefined || sort === "created" ? {} : { sort }),
    ...(address["order"] === "asc" ? { order: "asc" } : {}),
  };
}

/** The request for a list; tries are left out unless they are asked for. */
export function toRequest({ tries, grouped: _grouped, ...request }: RunsSearch) {
  return tries || request.tag === TRY_TAG ? request : { ...request, not_tag: TRY_TAG };
}

/** True if a filter was chosen. */
export function isFiltered(
  { sort: _sort, order: _order, tries: _tries, grouped: _grouped, ...filters }: RunsSearch,
): boolean {
  return Object.keys(filters).length > 0;
}

function readTexts(address: Record<string, unknown>): RunsSearch {
  // An address that was typed by hand has a number where a tag is one, such as 2024.
  const entries = ["search", "strategy", "symbol", "tag"]
    .flatMap((key) => ["string", "number"].includes(typeof address[key]) ? [[key, String(address[key]).trim()]] : [])
    .filter(([, text]) => text !== "");
  return Object.fromEntries(entries);
}
