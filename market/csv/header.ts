/** A CSV file that cannot be read at all; the message names the remedy. */
export class CsvError extends Error {
  override readonly name = "CsvError";
}

const VALUE_COLUMNS = ["open", "high", "low", "close", "volume"] as const;
const TIME_COLUMNS = ["date", "timestamp", "time", "datetime"] as const;

/** The indexes of the fields that make a candle. */
export interface CsvColumns {
  readonly time: number;
  /** Of open, high, low, close and volume, in this order. */
  readonly values: readonly number[];
  /** The number of fields of a line. */
  readonly count: number;
}

/**
 * Finds the columns by name, in any order and case, and ignores others.
 *
 * @param fields The fields of the header line, without quotes.
 * @throws {CsvError} With the name of a column that is missing or repeated.
 */
export function parseHeader(fields: readonly string[], line: string): CsvColumns {
  const names = fields.map((field) => field.trim().toLowerCase());
  const separator = /[;\t|]/.exec(fields[0] ?? "")?.[0];
  const hint = separator === undefined ? "" : `; its fields are separated by ${JSON.stringify(separator)}: use commas`;
  const seen = `the header line is ${JSON.stringify(line.slice(0, 120))}${hint}`;
  const find = (name: string): number => {
    const index = names.indexOf(name);
    if (index < 0) throw new CsvError(`Cannot find the column ${name}: ${seen}`);
    if (names.lastIndexOf(name) !== index) throw new CsvError(`Cannot use two columns ${name}: keep one; ${seen}`);
    return index;
  };
  const times = TIME_COLUMNS.filter((name) => names.includes(name));
  if (times.length > 1) {
    throw new CsvError(`Cannot choose the column of times, ${times.join(" or ")}: keep one; ${seen}`);
  }
  const [named] = times;
  if (named === undefined && names[0] !== "") {
    throw new CsvError(
      `Cannot find the column of times (${TIME_COLUMNS.join(", ")}, or an unnamed first one): ${seen}`,
    );
  }
  return { time: named === undefined ? 0 : find(named), values: VALUE_COLUMNS.map(find), count: names.length };
}
