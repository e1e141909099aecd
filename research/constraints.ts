import { type Issue, type Parsed, parsed, quote } from "./issue.ts";

export const CONSTRAINTS_MAX = 20;
/** Most characters of one. */
export const CONSTRAINT_LENGTH_MAX = 200;
/** Most names and numbers of all constraints together: each point is held against them. */
export const CONSTRAINT_TERMS_MAX = 200;
/** Most parentheses and signs inside each other. */
const DEPTH_MAX = 20;

const COMPARISONS = ["<=", ">=", "==", "!=", "<", ">"] as const;
type Comparison = typeof COMPARISONS[number];
type Arithmetic = "+" | "-" | "*" | "/";

/** A sum, product or operand, as plain data. */
type Expression =
  | { readonly type: "number"; readonly value: number }
  | { readonly type: "name"; readonly name: string }
  | {
    readonly type: "operation";
    readonly operator: Arithmetic;
    readonly left: Expression;
    readonly right: Expression;
  };

/** A comparison between two expressions, as plain data. */
export interface Constraint {
  readonly text: string;
  readonly comparison: Comparison;
  readonly left: Expression;
  readonly right: Expression;
}

/**
 * Reads comparisons such as "fast < slow" and "slow - fast >= 5". They consist of names of parameters, numbers, + - * /,
 * parentheses and one of < <= > >= == !=. A name that has other characters than letters, digits and _ stands in "quotes".
 * Nothing is evaluated as code.
 *
 * @param texts The list as it came.
 * @param names The parameters that are numbers.
 * @returns The constraints; or an issue for each that cannot be used, its path from the list on.
 */
export function parseConstraints(texts: unknown, names: readonly string[]): Parsed<readonly Constraint[]> {
  if (texts === undefined || texts === null) return { value: [] };
  if (!Array.isArray(texts)) {
    return { issues: [{ path: "", message: `must be a list of comparisons, not ${quote(texts)}` }] };
  }
  if (texts.length > CONSTRAINTS_MAX) {
    return { issues: [{ path: "", message: `must have at most ${CONSTRAINTS_MAX} entries, not ${texts.length}` }] };
  }
  const issues: Issue[] = [];
  const constraints = texts.flatMap((text: unknown, i) => {
    try {
      return [parseConstraint(text, names)];
    } catch (error) {
      if (!(error instanceof ConstraintError)) throw error;
      issues.push({ path: `/${i}`, message: error.message });
      return [];
    }
  });
  const terms = countTerms(constraints);
  if (terms > CONSTRAINT_TERMS_MAX) {
    const message = `must have at most ${CONSTRAINT_TERMS_MAX} names and numbers in all, not ${terms}`;
    issues.push({ path: "", message });
  }
  return parsed(constraints, issues);
}

/** Names and numbers of constraints: the work of holds() grows with them. */
export function countTerms(constraints: readonly Constraint[]): number {
  const countIn = (expression: Expression): number =>
    expression.type === "operation" ? countIn(expression.left) + countIn(expression.right) : 1;
  return constraints.reduce((sum, { left, right }) => sum + countIn(left) + countIn(right), 0);
}

/** The parameters that constraints name. */
export function namesOf(constraints: readonly Constraint[]): ReadonlySet<string> {
  const names = new Set<string>();
  const collect = (expression: Expression): void => {
    if (expression.type === "name") names.add(expression.name);
    if (expression.type !== "operation") return;
    collect(expression.left);
    collect(expression.right);
  };
  for (const { left, right } of constraints) {
    collect(left);
    collect(right);
  }
  return names;
}

/** True if a point satisfies every constraint. One that divides by zero, or meets no number, does not hold. */
export function holds(constraints: readonly Constraint[], point: Readonly<Record<string, unknown>>): boolean {
  return constraints.every((constraint) => isSatisfied(constraint, point));
}

class ConstraintError extends Error {
  override name = "ConstraintError";
}

function parseConstraint(text: unknown, names: readonly string[]): Constraint {
  if (typeof text !== "string") throw new ConstraintError(`must be a text, not ${quote(text)}`);
  if (text.length > CONSTRAINT_LENGTH_MAX) {
    throw new ConstraintError(`must have at most ${CONSTRAINT_LENGTH_MAX} characters, not ${text.length}`);
  }
  const reader = new Reader(text, names);
  const left = reader.sum(0);
  const comparison = reader.comparison();
  const right = reader.sum(0);
  reader.end();
  if (isConstant(left) && isConstant(right)) {
    throw new ConstraintError(`must name a parameter: ${quote(text)} has none`);
  }
  return { text, comparison, left, right };
}

// A word that a token cannot begin with is a token of its own, so that the message can name it.
const TOKEN = /\s*(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|"[^"]*"|<=|>=|==|!=|\S)/y;

/** Reads a constraint from left to right, one token ahead. */
class Reader {
  readonly #text: string;
  readonly #names: readonly string[];
  #token = "";
  #at = 0;
  #next = 0;

  constructor(text: string, names: readonly string[]) {
    this.#text = text;
    this.#names = names;
    this.#advance();
  }

  sum(depth: number): Expression {
    let left = this.#product(depth);
    while (this.#token === "+" || this.#token === "-") {
      left = { type: "operation", operator: this.#take(this.#token), left, right: this.#product(depth) };
    }
    return left;
  }

  comparison(): Comparison {
    const found = COMPARISONS.find((comparison) => comparison === this.#token);
    return found === undefined ? this.#refuse(`one of ${COMPARISONS.join(" ")}`) : this.#take(found);
  }

  end(): void {
    if (this.#token !== "") this.#refuse("the end");
  }

  #product(depth: number): Expression {
    let left = this.#operand(depth);
    while (this.#token === "*" || this.#token === "/") {
      const operator = this.#take(this.#token);
      const right = this.#operand(depth);
      if (operator === "/" && isConstant(right) && Number.isNaN(evaluate({ ...ONE_OVER, right }, {}))) {
        throw new ConstraintError(`must not divide by zero: ${quote(this.#text)}`);
      }
      left = { type: "operation", operator, left, right };
    }
    return left;
  }

  #operand(depth: number): Expression {
    if (depth > DEPTH_MAX) throw new ConstraintError(`must have at most ${DEPTH_MAX} parentheses inside each other`);
    const token = this.#token;
    if (token === "-") {
      this.#advance();
      return { type: "operation", operator: "-", left: { type: "number", value: 0 }, right: this.#operand(depth + 1) };
    }
    if (token === "(") {
      this.#advance();
      const inner = this.sum(depth + 1);
      if (this.#token !== ")") this.#refuse(`")"`);
      this.#advance();
      return inner;
    }
    if (/^[.\d]/.test(token) && token !== ".") return this.#number(this.#take(token));
    if (/^[A-Za-z_]/.test(token) || /^".*"$/s.test(token)) return this.#name(token);
    return this.#refuse("a parameter, a number or a parenthesis");
  }

  #number(token: string): Expression {
    const value = Number(token);
    if (!Number.isFinite(value)) throw new ConstraintError(`must have numbers of a usual size, not ${token}`);
    return { type: "number", value };
  }

  #name(token: string): Expression {
    const name = token.startsWith('"') ? token.slice(1, -1) : token;
    if (!this.#names.includes(name)) {
      const known = this.#names.map(quote).join(", ");
      throw new ConstraintError(`names ${quote(name)}, which is no numeric parameter; there are ${known || "none"}`);
    }
    this.#advance();
    return { type: "name", name };
  }

  #take<T extends string>(token: T): T {
    this.#advance();
    return token;
  }

  #advance(): void {
    TOKEN.lastIndex = this.#next;
    const match = TOKEN.exec(this.#text);
    this.#token = match?.[1] ?? "";
    this.#at = match === null ? this.#text.length : TOKEN.lastIndex - this.#token.length;
    this.#next = match === null ? this.#text.length : TOKEN.lastIndex;
  }

  #refuse(expected: string): never {
    const found = this.#token === "" ? "the text ends" : `there is ${quote(this.#token)}`;
    throw new ConstraintError(
      `must have ${expected} at character ${this.#at + 1}, where ${found}: ${quote(this.#text)}`,
    );
  }
}

const ONE_OVER = { type: "operation", operator: "/", left: { type: "number", value: 1 } } as const;

/** How far rounding may have moved the last result of evaluate(): 0.3 - 0.1 is 0.2. Apart from it, since millions are made. */
const rounding = new Float64Array(1);

/** NaN, which no comparison accepts, after a division by zero and where a name has no number. */
function evaluate(expression: Expression, point: Readonly<Record<string, unknown>>): number {
  if (expression.type === "number") return rounded(expression.value, 0);
  if (expression.type === "name") {
    const value = Object.hasOwn(point, expression.name) ? point[expression.name] : undefined;
    return rounded(typeof value === "number" ? value : NaN, 0);
  }
  const a = evaluate(expression.left, point);
  const errorA = rounding[0]!;
  const b = evaluate(expression.right, point);
  const errorB = rounding[0]!;
  switch (expression.operator) {
    case "+":
      return rounded(a + b, errorA + errorB);
    case "-":
      return rounded(a - b, errorA + errorB);
    case "*":
      return rounded(a * b, Math.abs(a) * errorB + Math.abs(b) * errorA);
    case "/": {
      if (Math.abs(b) <= errorB) return rounded(NaN, 0);
      const value = a / b;
      return rounded(value, (errorA + Math.abs(value) * errorB) / Math.abs(b));
    }
  }
}

function rounded(value: number, error: number): number {
  rounding[0] = error + Math.abs(value) * Number.EPSILON;
  return value;
}

function isSatisfied({ left, comparison, right }: Constraint, point: Readonly<Record<string, unknown>>): boolean {
  const a = evaluate(left, point);
  const error = rounding[0]!;
  const difference = a - evaluate(right, point);
  if (!Number.isFinite(difference)) return false;
  const isEqual = Math.abs(difference) <= error + rounding[0]!;
  switch (comparison) {
    case "<":
      return difference < 0 && !isEqual;
    case "<=":
      return difference < 0 || isEqual;
    case ">":
      return difference > 0 && !isEqual;
    case ">=":
      return difference > 0 || isEqual;
    case "==":
      return isEqual;
    case "!=":
      return !isEqual;
  }
}

function isConstant(expression: Expression): boolean {
  if (expression.type === "operation") return isConstant(expression.left) && isConstant(expression.right);
  return expression.type === "number";
}
