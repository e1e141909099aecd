/** Names that a caller probably meant, for paths and keys of queries. */
import { findNearest } from "../../market/nearest_name.ts";
import { AppError, ISSUES_MAX, toAppError } from "./errors.ts";

/**
 * The path of a route that is nearly the given one: its parameters as given, and each of its words equal or nearly so. The prefix /api
 * may be missing.
 *
 * @param patterns Such as `/api/backtests/:id`.
 */
export function findNearestPath(path: string, patterns: readonly string[]): string | undefined {
  const given = path.split("/").filter((part) => part !== "");
  for (const parts of given[0] === "api" ? [given] : [given, ["api", ...given]]) {
    for (const pattern of patterns) {
      const words = pattern.split("/").slice(1);
      const found = words.map((word, i) => word.startsWith(":") ? parts[i] : nearly(parts[i], word));
      if (words.length === parts.length && !found.includes(undefined)) return `/${found.join("/")}`;
    }
  }
}

function nearly(part: string | undefined, word: string): string | undefined {
  return part === word || (part !== undefined && findNearest(part, [word]) === word) ? word : undefined;
}

/** The known key of a query that is nearest to each unknown one, where one is near. */
export function findMeantKeys(unknown: readonly string[], known: ReadonlySet<string>): ReadonlyMap<string, string> {
  const pairs = unknown.map((key) => [key, findNearest(key, [...known])] as const);
  return new Map(pairs.flatMap(([key, meant]) => meant === undefined ? [] : [[meant, key]]));
}

/** The refusal of a request without a key that its query probably misspells, which says so; any other error as it is. */
export function hintAtMeantKeys(error: unknown, meant: ReadonlyMap<string, string>): unknown {
  if (meant.size === 0) return error;
  const refusal = toAppError(error);
  let message = refusal.message;
  const issues = refusal.issues.slice(0, ISSUES_MAX).map((issue) => {
    const given = issue.message === "is required" ? meant.get(issue.path.slice(1)) : undefined;
    if (given === undefined) return issue;
    const hinted = `is required: the query has ${JSON.stringify(given)}, which is not a known key`;
    message = message.replace(`${issue.path} is required`, `${issue.path} ${hinted}`);
    return { path: issue.path, message: hinted };
  });
  return message === refusal.message ? error : new AppError(refusal.appCode, message, { issues, cause: error });
}
