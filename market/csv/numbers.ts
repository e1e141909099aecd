import { CsvError } from "./csv_error.ts";
import type { DecimalMark } from "./terms.ts";

const MULTIPLES: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, B: 1e9, T: 1e12 };
// No two parts take the same blanks: the time to refuse a long field grows with its length alone.
const WRITTEN = /^([+-]?)\s*(?:[$€£¥]\s*)?([\d.,]+)\s*[$€£¥]?([KMBT]?)$/i;
const GROUPED: Readonly<Record<DecimalMark, RegExp>> = {
  point: /^(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)?(?:\.\d*)?$/,
  comma: /^(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)?(?:,\d*)?$/,
};
// A few odd numbers are mistakes; more are another way of writing.
const ODD_SHARE_MAX = 0.1;

/** Reads a number to the nearest double: 1234.5, 1,234.50, $182.52, 1.2M, or with a decimal comma 1.234,50. NaN for anything else. */
export function parseWritten(text: string, mark: DecimalMark): number {
  const [, sign, digits, multiple] = WRITTEN.exec(text) ?? [];
  if (digits === undefined || !/\d/.test(digits) || !GROUPED[mark].test(digits)) return NaN;
  const [whole, fraction = ""] = digits.split(mark === "point" ? "." : ",");
  // The exponent is part of the literal, so that 1.2M is 1200000 exactly.
  const exponent = Math.log10(MULTIPLES[multiple?.toUpperCase() ?? ""] ?? 1);
  return Number(`${sign}${whole?.replaceAll(/[.,]/g, "") ?? ""}.${fraction}e${exponent}`) + 0;
}

/** A number of the file and the line that it stands in. */
export interface Written {
  readonly text: string;
  readonly line: number;
}

/**
 * The decimal mark of a file.
 *
 * @param isListed True if commas separate its fields, or tabs: a lone point is then a decimal one.
 * @throws {CsvError} Where the prices have two readings, or are written in two ways.
 */
export function findDecimalMark(
  prices: readonly Written[],
  volumes: readonly Written[],
  isListed: boolean,
): DecimalMark {
  const proof: Record<DecimalMark, Written[]> = { point: [], comma: [] };
  for (const each of [...prices, ...volumes]) {
    const mark = provenMark(each.text);
    if (mark !== null) proof[mark].push(each);
  }
  const [points, commas] = [proof.point, proof.comma];
  if (Math.min(points.length, commas.length) > ODD_SHARE_MAX * (points.length + commas.length)) {
    const told = [points[0]!, commas[0]!].map(({ text, line }) => `${JSON.stringify(text)} in line ${line}`);
    throw ambiguous(`they are written in two ways, ${told.join(" and ")}`);
  }
  if (points.length !== commas.length) return points.length > commas.length ? "point" : "comma";
  const findOpen = (mark: DecimalMark) => prices.find(({ text }) => openMark(text) === mark);
  const open = findOpen("comma") ?? (isListed ? undefined : findOpen("point"));
  if (open === undefined) return "point";
  const { text, line } = open;
  const readings = (["point", "comma"] as const).map((mark) => `${parseWritten(text, mark)} (decimal ${mark})`);
  throw ambiguous(`${JSON.stringify(text)} in line ${line} is ${readings.join(" or ")}`);
}

function ambiguous(reason: string): CsvError {
  return new CsvError(
    `Cannot tell the decimal mark of the prices: ${reason}: send decimalMark=point or decimalMark=comma`,
    {
      parameter: "decimalMark",
    },
  );
}

/** The decimal mark that a number can have alone; null where it can have either. */
function provenMark(text: string): DecimalMark | null {
  const digits = WRITTEN.exec(text)?.[2] ?? "";
  const [isPoint, isComma] = [parseWritten(digits, "point"), parseWritten(digits, "comma")].map((value) =>
    !Number.isNaN(value)
  );
  if (isPoint === isComma || !/[.,]/.test(digits)) return null;
  return isPoint ? "point" : "comma";
}

/** The mark in a number that has two readings; null for others. */
function openMark(text: string): DecimalMark | null {
  if (Number.isNaN(parseWritten(text, "point")) || Number.isNaN(parseWritten(text, "comma"))) return null;
  if (text.includes(".")) return "point";
  return text.includes(",") ? "comma" : null;
}
