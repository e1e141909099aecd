/** The rows of drizzle's `execute`: PGlite wraps them in an object. */
export function rowsOf(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer;
  if (typeof answer === "object" && answer !== null && "rows" in answer && Array.isArray(answer.rows)) {
    return answer.rows;
  }
  throw new TypeError("Cannot read rows: the value is not a statement's answer");
}
