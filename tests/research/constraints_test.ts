import { expect } from "@std/expect";
import { holds, parseConstraints } from "../../research/constraints.ts";

const NAMES = ["fast", "slow", "take-profit"];

function isTrue(text: string, point: Record<string, unknown>): boolean {
  const { value, issues } = parseConstraints([text], NAMES);
  if (value === undefined) throw new Error(issues[0].message);
  return holds(value, point);
}

function issuesOf(texts: unknown): string[] | undefined {
  return parseConstraints(texts, NAMES).issues?.map(({ path, message }) => `${path} ${message}`);
}

Deno.test("a constraint compares sums, products and parentheses as arithmetic does", () => {
  const point = { fast: 10, slow: 30, "take-profit": 0.3 };
  const cases: readonly (readonly [string, boolean])[] = [
    ["fast < slow", true],
    ["slow<fast", false],
    ["fast <= 10", true],
    ["fast >= 10.5", false],
    ["slow - fast >= 20", true],
    ["slow - fast - 5 == 15", true],
    ["slow / fast / 3 == 1", true],
    ["fast + 2 * slow == 70", true],
    ["(fast + 2) * slow == 360", true],
    ["-fast > -slow", true],
    ["- -fast == 1e1", true],
    ["fast != 10", false],
    ['"take-profit" * 10 == 3', true],
    [".5 * fast == 5.", true],
  ];
  for (const [text, expected] of cases) expect([text, isTrue(text, point)]).toEqual([text, expected]);
});

Deno.test("rounding decides no comparison", () => {
  expect(isTrue("slow - fast >= 0.2", { slow: 0.3, fast: 0.1 })).toBe(true);
  expect(isTrue("slow - fast < 0.2", { slow: 0.3, fast: 0.1 })).toBe(false);
  expect(isTrue("slow + fast == 0.3", { slow: 0.1, fast: 0.2 })).toBe(true);
  expect(isTrue("slow - fast >= 0.2", { slow: 1_000_000.3, fast: 1_000_000.1 })).toBe(true);
  expect(isTrue("slow - fast >= 0.2", { slow: 0.3, fast: 0.1000000001 })).toBe(false);
});

Deno.test("a division by zero, or a value that is no number, holds nowhere", () => {
  for (const comparison of ["<", "<=", ">", ">=", "==", "!="]) {
    expect(isTrue(`1 / (slow - fast) ${comparison} 1`, { slow: 3, fast: 3 })).toBe(false);
    expect(isTrue(`1 / (1 / (slow - fast)) ${comparison} 1`, { slow: 3, fast: 3 })).toBe(false);
    expect(isTrue(`1 / (slow - 0.2 - fast) ${comparison} 1`, { slow: 0.3, fast: 0.1 })).toBe(false);
    expect(isTrue(`slow ${comparison} 1`, { slow: "3" })).toBe(false);
    expect(isTrue(`slow ${comparison} 1`, {})).toBe(false);
    expect(isTrue(`slow * 1e308 * 1e308 ${comparison} 1`, { slow: 3 })).toBe(false);
  }
});

Deno.test("all constraints must hold, and none is no constraint", () => {
  const { value = [] } = parseConstraints(["fast < slow", "slow < 20"], NAMES);
  expect(holds(value, { fast: 1, slow: 10 })).toBe(true);
  expect(holds(value, { fast: 1, slow: 30 })).toBe(false);
  expect(holds(parseConstraints(undefined, NAMES).value ?? [], {})).toBe(true);
});

Deno.test("constraints are data, so that a job can carry them", () => {
  const { value = [] } = parseConstraints(["slow - fast >= 5"], NAMES);
  expect(holds(JSON.parse(JSON.stringify(value)), { fast: 1, slow: 6 })).toBe(true);
});

Deno.test("each text that is no constraint is refused with the reason", () => {
  const known = 'which is no numeric parameter; there are "fast", "slow", "take-profit"';
  const cases: readonly (readonly [unknown, string])[] = [
    ["fast", 'must have one of <= >= == != < > at character 5, where the text ends: "fast"'],
    ["", 'must have a parameter, a number or a parenthesis at character 1, where the text ends: ""'],
    ["fast < ", 'must have a parameter, a number or a parenthesis at character 8, where the text ends: "fast < "'],
    ["fast < slow < 5", 'must have the end at character 13, where there is "<": "fast < slow < 5"'],
    ["fast = slow", 'must have one of <= >= == != < > at character 6, where there is "=": "fast = slow"'],
    ["(fast < slow)", 'must have ")" at character 7, where there is "<": "(fast < slow)"'],
    ["fast < slow)", 'must have the end at character 12, where there is ")": "fast < slow)"'],
    [
      "fast ** 2 < 3",
      'must have a parameter, a number or a parenthesis at character 7, where there is "*": "fast ** 2 < 3"',
    ],
    ["fast < slow; exit()", 'must have the end at character 12, where there is ";": "fast < slow; exit()"'],
    ["quick < slow", `names "quick", ${known}`],
    ["take-profit < 1", `names "take", ${known}`],
    ["constructor < 1", `names "constructor", ${known}`],
    ["fast(1) < slow", 'must have one of <= >= == != < > at character 5, where there is "(": "fast(1) < slow"'],
    ["1 < 2", 'must name a parameter: "1 < 2" has none'],
    ["fast / 0 < 2", 'must not divide by zero: "fast / 0 < 2"'],
    ["fast / (0.3 - 0.1 - 0.2) < 2", 'must not divide by zero: "fast / (0.3 - 0.1 - 0.2) < 2"'],
    ["fast < 1e999", "must have numbers of a usual size, not 1e999"],
    ["(".repeat(22) + "fast" + ")".repeat(22) + " < 1", "must have at most 20 parentheses inside each other"],
    ["-".repeat(100) + "fast < 1", "must have at most 20 parentheses inside each other"],
    ["fast < 1" + " ".repeat(193), "must have at most 200 characters, not 201"],
    [5, "must be a text, not 5"],
    [null, "must be a text, not null"],
  ];
  for (const [text, message] of cases) expect(issuesOf([text])).toEqual([`/0 ${message}`]);
  expect(issuesOf(["fast < slow", "x < 1", "slow >"])?.map((issue) => issue.slice(0, 3))).toEqual(["/1 ", "/2 "]);
  expect(issuesOf("fast < slow")).toEqual([' must be a list of comparisons, not "fast < slow"']);
  const sum = `fast < 1${" + 1".repeat(40)}`;
  expect(issuesOf(Array(4).fill(sum))).toBe(undefined);
  expect(issuesOf(Array(5).fill(sum))).toEqual([" must have at most 200 names and numbers in all, not 210"]);
  expect(issuesOf(Array(21).fill("fast < slow"))).toEqual([" must have at most 20 entries, not 21"]);
});
