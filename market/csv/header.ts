/** A CSV file that cannot be read at all: its message says what it needs. */
export class CsvError extends Error {
  override readonly name = "CsvError";
}

const VALUE_COLUMNS = ["open", "high", "low", "close", "volume"] as const;
const TIME_COLUMNS = ["date", "timestamp", "time", "datetime"] as const;

/** Where a candle's parts stand in a line: indexes of fields. */
export interface CsvColumns {
  readonly time: number;
  /** open, high, low, close, volume, in this order. */
  readonly values: readonly number[];
  /** How many fields a line has. */
  readonly count: number;
}

/**
 * Finds the columns by their names, in any order and case; others are ignored.
 *
 * @param fields Those of the header line, without quotes.
 * @throws {CsvError} Naming the column that is missing or comes twice.
 */
export function parseHeader(fields: readonly string[], line: string): CsvColumns {
  const names = fields.map((field) => field.trim().toLowerCase());
  const separator = /[;\t|]/.exec(fields[0] ?? "")?.[0];
  const hint = separator === undefined
    ? ""
    : `, whose fields are apart by ${JSON.stringify(separator)} and not by commas`;
  const seen = `the header line is ${JSON.stringify(line.slice(0, 120))}${hint}`;
  const find = (name: string): number => {
    const index = names.indexOf(name);
    if (index < 0) throw new CsvError(`Cannot find the column ${name}: ${seen}`);
    if (names.lastIndexOf(name) !== index) throw new CsvError(`Cannot tell two columns ${name} apart: ${seen}`);
    return index;
  };
  const times = TIME_COLUMNS.filter((name) => names.includes(name));
  if (times.length > 1) throw new CsvError(`Cannot tell which column is the time, ${times.join(" or ")}: ${seen}`);
  const [named] = times;
  if (named === undefined && names[0] !== "") {
    throw new CsvError(
      `Cannot find the column of times (${TIME_COLUMNS.join(", ")}, or an unnamed first one): ${seen}`,
    );
  }
  return { time: named === undefined ? 0 : find(named), values: VALUE_COLUMNS.map(find), count: names.length };
}
