/** The rows of a statement that drizzle's `execute` ran: PGlite answers with an object around them. */
export function rowsOf(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer;
  if (typeof answer === "object" && answer !== null && "rows" in answer && Array.isArray(answer.rows)) {
    return answer.rows;
  }
  throw new TypeError("Cannot find the rows in what is no answer of a statement");
}
