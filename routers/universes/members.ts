import { z } from "zod";
import type { Member } from "../../db/universes.ts";
import { dateSchema } from "../common/dates.ts";
import { AppError, type Issue, ISSUES_MAX, mustBe, pointer, quote } from "../common/errors.ts";
import { inputObject } from "../common/input_object.ts";
import { marketNameSchema } from "../market_data/market_name.ts";

/** Most rows of a version: an instrument that left and came back has two. */
const MEMBERS_MAX = 5_000;
/** Most characters of a version as CSV. */
const MEMBERS_CSV_MAX = 512 * 1024;

const COLUMNS = ["symbol", "exchange", "from", "to"] as const;

/** A member as a request names it. */
export const memberSchema = inputObject({
  symbol: marketNameSchema,
  exchange: marketNameSchema,
  from: dateSchema.optional(),
  to: dateSchema.optional(),
});

type MemberRequest = z.infer<typeof memberSchema>;

/** The members of a new version: as a list, or as CSV with the columns symbol, exchange, from and to. */
export const membersShape = {
  members: z.array(memberSchema).min(1).max(MEMBERS_MAX).optional(),
  csv: z.string().min(1).max(MEMBERS_CSV_MAX).optional(),
};

/**
 * The members that a request names, checked as a whole.
 *
 * @param path The JSON pointer of the object that has `members` or `csv`.
 * @throws AppError VALIDATION_FAILED for none or both of them, a wrong line, dates in the wrong order, and memberships of one
 * instrument that overlap.
 */
export function toMembers(
  { members, csv }: { readonly members?: readonly MemberRequest[] | undefined; readonly csv?: string | undefined },
  path: string,
): Member[] {
  if ((members === undefined) === (csv === undefined)) {
    throw refused([{ path: `${path}/members`, message: "is required, or csv in its place, and not both" }]);
  }
  const { rows, at } = csv === undefined
    ? { rows: members ?? [], at: (index: number) => `${path}/members/${index}` }
    : parseMembers(csv, `${path}/csv`);
  return requireMembers(rows, at);
}

/**
 * Members that make sense together.
 *
 * @param at The JSON pointer of a row.
 * @throws AppError VALIDATION_FAILED for dates in the wrong order, and memberships of one instrument that overlap.
 */
export function requireMembers(rows: readonly MemberRequest[], at: (index: number) => string): Member[] {
  const found = rows.map(({ symbol, exchange, from, to }) => ({
    symbol,
    exchange,
    from: from ?? null,
    to: to ?? null,
  }));
  const issues = [...findReversed(found, at), ...findOverlaps(found, at)].slice(0, ISSUES_MAX);
  if (issues.length > 0) throw refused(issues);
  return found;
}

function refused(issues: readonly Issue[]): AppError {
  const [first] = issues;
  return new AppError("VALIDATION_FAILED", `Cannot use the members: ${first?.path} ${first?.message}`, { issues });
}

/** Reads the lines of a CSV text. Empty cells are absent dates, and empty lines are passed over. */
function parseMembers(csv: string, path: string) {
  const [head = "", ...lines] = csv.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/, MEMBERS_MAX + 2);
  const names = splitLine(head).map((name) => name.toLowerCase());
  const unknown = names.find((name) => !COLUMNS.some((column) => column === name));
  if (unknown !== undefined || !names.includes("symbol") || !names.includes("exchange")) {
    const found = unknown === undefined ? quote(head) : `with ${quote(unknown)}`;
    throw refused([{ path, message: `must begin with the line symbol,exchange,from,to, not ${found}` }]);
  }
  const numbers: number[] = [];
  const issues: Issue[] = [];
  const rows: MemberRequest[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const cells = splitLine(line);
    const entries = names.flatMap((name, i) => cells[i] === undefined || cells[i] === "" ? [] : [[name, cells[i]]]);
    const parsed = memberSchema.safeParse(Object.fromEntries(entries));
    const number = index + 2;
    if (cells.length > names.length) {
      issues.push({
        path,
        message: `line ${number} has ${cells.length} cells, and the first line has ${names.length}`,
      });
    } else if (parsed.success) {
      rows.push(parsed.data);
      numbers.push(number);
    } else {
      const [first] = parsed.error.issues;
      issues.push({ path, message: `line ${number}: ${pointer(first?.path ?? []).slice(1)} ${first?.message}` });
    }
    if (issues.length === ISSUES_MAX) break;
  }
  if (rows.length > MEMBERS_MAX) {
    issues.push({ path, message: `must have at most ${MEMBERS_MAX} members` });
  }
  if (rows.length === 0 && issues.length === 0) {
    issues.push({ path, message: "must have a member below its first line" });
  }
  if (issues.length > 0) throw refused(issues);
  return { rows, at: (index: number) => `${path} line ${numbers[index]}` };
}

/** The cells of a line, which may be quoted. */
function splitLine(line: string): string[] {
  return line.split(",").map((cell) => cell.trim().replace(/^"(.*)"$/, "$1").trim());
}

function findReversed(members: readonly Member[], at: (index: number) => string): Issue[] {
  return members.flatMap(({ from, to }, index) =>
    from !== null && to !== null && from >= to
      ? [{ path: at(index), message: `must have a from before its to, ${to}, not ${from}` }]
      : []
  );
}

function findOverlaps(members: readonly Member[], at: (index: number) => string): Issue[] {
  const sorted = members.map((member, index) => ({ ...member, index, key: keyOf(member) }))
    .toSorted((one, two) => compare(one.key, two.key) || compare(one.from ?? "", two.from ?? ""));
  return sorted.flatMap((member, i) => {
    const before = sorted[i - 1];
    if (before === undefined || before.key !== member.key) return [];
    if (before.to !== null && member.from !== null && before.to <= member.from) return [];
    const message = `must not overlap another membership of ${member.symbol}@${member.exchange}, from ${
      before.from ?? "the beginning"
    } to ${before.to ?? "today"}`;
    return [{ path: at(member.index), message }];
  });
}

function keyOf({ symbol, exchange }: Member): string {
  return JSON.stringify([symbol, exchange]);
}

function compare(one: string, two: string): number {
  return one < two ? -1 : one > two ? 1 : 0;
}

/** `us-large` or `us-large@3`. */
export const universeNameSchema = z.string().max(80).regex(
  /^[a-z0-9]+(-[a-z0-9]+)*(@[1-9]\d{0,8})?$/,
  mustBe("a universe's slug, as in us-large, or a version of it, as in us-large@3"),
);
