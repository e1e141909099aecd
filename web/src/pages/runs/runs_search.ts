/** The statuses, sorts and filters of the list of runs, as its address keeps them. */
export const RUN_STATUSES = ["queued", "running", "completed", "failed", "cancelled"] as const;
export const RUN_SORTS = ["created", "return", "sharpe", "drawdown"] as const;
export type RunSort = (typeof RUN_SORTS)[number];

/** The state of the list; its keys are those of the procedure that answers it. */
export interface RunsSearch {
  readonly search?: string;
  readonly status?: (typeof RUN_STATUSES)[number];
  readonly strategy?: string;
  readonly symbol?: string;
  readonly tag?: string;
  readonly starred?: true;
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
    ...(sort === undefined || sort === "created" ? {} : { sort }),
    ...(address["order"] === "asc" ? { order: "asc" } : {}),
  };
}

/** True if the list leaves runs out. */
export function isFiltered({ sort: _sort, order: _order, ...filters }: RunsSearch): boolean {
  return Object.keys(filters).length > 0;
}

function readTexts(address: Record<string, unknown>): RunsSearch {
  // An address that was typed by hand has a number where a tag is one, such as 2024.
  const entries = ["search", "strategy", "symbol", "tag"]
    .flatMap((key) => ["string", "number"].includes(typeof address[key]) ? [[key, String(address[key]).trim()]] : [])
    .filter(([, text]) => text !== "");
  return Object.fromEntries(entries);
}
