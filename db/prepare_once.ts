import type { Db } from "./database.ts";

/** A statement of drizzle's, ready to be sent with values for its placeholders. */
interface Prepared<Answer> {
  execute(values: Record<string, unknown>): Promise<Answer>;
}

/**
 * Builds a statement's SQL once for each database and connection: for the short statements of a run, drizzle takes as long to build
 * them as PostgreSQL takes to answer.
 *
 * drizzle sends a `null` for a placeholder of a JSON column as JSON's null, so values of columns that may be null are placed by
 * `sql`${sql.placeholder(name)}``.
 *
 * @param build Builds it, with `sql.placeholder(name)` in place of each value.
 * @returns Sends it; a missing value is an error.
 */
export function prepareOnce<Answer>(
  build: (db: Db) => { prepare(name: string): Prepared<Answer> },
): (db: Db, values: Readonly<Record<string, unknown>>) => Promise<Answer> {
  const statements = new WeakMap<Db, Prepared<Answer>>();
  return (db, values) => {
    // The driver names prepared statements itself.
    const statement = statements.get(db) ?? build(db).prepare("");
    statements.set(db, statement);
    return statement.execute(values);
  };
}
