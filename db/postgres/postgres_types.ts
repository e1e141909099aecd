import { parse as parseArray } from "postgres-array";

/** How dates and times are read: as the server's text, which drizzle expects, or as `Date`, which pg-boss expects. */
export type DateMode = "text" | "Date";

type Parser = (text: string) => unknown;

const parseBoolean: Parser = (text) => text === "t";
const parseJson: Parser = (text) => JSON.parse(text);
// V8's own conversion: byte by byte it would double the time that reading candles takes.
const parseBytes: Parser = (text) => Uint8Array.fromHex(text.slice("\\x".length));

// By the OID of the type. text, uuid, numeric and bigint (beyond 2 ** 53) have no parser: they stay text.
const PARSERS: Readonly<Record<number, Parser>> = {
  16: parseBoolean,
  17: parseBytes,
  21: Number,
  23: Number,
  26: Number,
  114: JSON.parse,
  700: Number,
  701: Number,
  3802: parseJson,
};
// date, timestamp and timestamptz.
const DATE_TYPES = [1082, 1114, 1184];
// The OIDs of array types and of their elements.
const ARRAY_TYPES: readonly (readonly [array: number, element: number])[] = [
  [199, 114],
  [1000, 16],
  [1001, 17],
  [1002, 18],
  [1005, 21],
  [1007, 23],
  [1009, 25],
  [1014, 1042],
  [1015, 1043],
  [1016, 20],
  [1021, 700],
  [1022, 701],
  [1028, 26],
  [2951, 2950],
  [3807, 3802],
];

/** The parsers of a connection's answers, by the OID of the type. A type without one is read as text. */
export function createParsers(dates: DateMode): Record<number, Parser> {
  const parsers: Record<number, Parser> = { ...PARSERS };
  if (dates === "Date") { for (const oid of DATE_TYPES) parsers[oid] = (text) => new Date(text); }
  for (const [array, element] of ARRAY_TYPES) {
    const parseElement = parsers[element] ?? ((text) => text);
    parsers[array] = (text) => parseArray(text, parseElement);
  }
  return parsers;
}

/** A statement's parameter as text that PostgreSQL reads for any type. */
export function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return value;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${value.toHex()}`;
  if (Array.isArray(value)) return `{${value.map(toElement).join()}}`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function toElement(value: unknown): string {
  const text = toText(value);
  if (text === null) return "NULL";
  return Array.isArray(value) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}
