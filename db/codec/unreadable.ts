/**
 * A stored record that this build cannot read: a newer build wrote it, or it is damaged.
 *
 * It is no fault of the statement or of the code that reads. Another process may have the build that can.
 */
export class UnreadableRecord extends Error {
  override readonly name = "UnreadableRecord";

  /** @param record Its noun and its key, as in `backtest 0190b…`. @param cause The fault of whoever read it. */
  constructor(readonly record: string, cause: unknown) {
    super(`Cannot read the ${record}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/**
 * Reads a stored record.
 *
 * @param record Its noun and its key, as in `backtest 0190b…`.
 * @param read Takes what is stored and nothing else, so that whatever it throws is due to the record.
 * @throws {UnreadableRecord}
 */
export function readRecord<Value>(record: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw findUnreadable(error) ?? new UnreadableRecord(record, error);
  }
}

/** The record that could not be read, among the causes of an error. */
export function findUnreadable(error: unknown): UnreadableRecord | undefined {
  if (error instanceof UnreadableRecord) return error;
  return error instanceof Error ? findUnreadable(error.cause) : undefined;
}

/** The column of that name. @throws {Error} Where there is none. */
export function requireColumn(columns: Readonly<Record<string, Float64Array>>, name: string): Float64Array {
  const column = columns[name];
  if (column === undefined) throw new Error(`the column ${name} is missing`);
  return column;
}

/** The name that a stored index stands for. @param what As in `order status`. @throws {Error} For an index beyond the names. */
export function nameAt<Name extends string>(names: readonly Name[], index: number, what: string): Name {
  const name = names[index];
  if (name === undefined) throw new Error(`the ${what} ${index} is unknown`);
  return name;
}

/** @param what As in `asset class`. @throws {Error} For a name that is none of those. */
export function requireName(names: readonly string[], name: string, what: string): void {
  if (!names.includes(name)) throw new Error(`the ${what} ${name} is unknown`);
}
