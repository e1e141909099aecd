import { isHeader, normalize, parseHeader, placeColumns } from "./header.ts";
import { CsvError } from "./csv_error.ts";
import type { CsvColumns, Dialect, ForcedDialect } from "./dialect.ts";
import { epochUnit } from "./fields.ts";
import { FIELDS_MAX } from "./line_fields.ts";
import { findDecimalMark, parseWritten, type Written } from "./numbers.ts";
import { type FileHead, findProgram } from "./programs.ts";
import type { ColumnRole, DateOrder } from "./terms.ts";
import { dayIn, parseDate } from "./times.ts";
import { DAY_MS } from "../timeframes.ts";

const DELIMITERS = ["\t", ";", "|", ","] as const;
const FIELDS_MIN = 5;
const PREAMBLE_LINES_MAX = 10;
const SAMPLE_LINES_MAX = 2_000;

/** A line of the sample. */
interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** A line cut into fields. */
interface Row {
  readonly number: number;
  readonly fields: readonly string[];
}

/**
 * Recognises how a file writes candles.
 *
 * @param sample The beginning of the file in whole lines.
 * @param isWhole True if more lines cannot settle a question that these leave open.
 * @returns null if more lines are needed.
 * @throws {CsvError} For a file that is no table of candles, and for one with two readings.
 */
export function recognise(sample: Uint8Array, isWhole: boolean, forced: ForcedDialect): Dialect | null {
  const lines = toLines(sample);
  if (lines.length === 0) {
    if (!isWhole) return null;
    throw new CsvError("Cannot import an empty file: write a header line and a line for each candle");
  }
  const delimiter = findDelimiter(lines);
  const cut = ({ number, text }: Line): Row => ({ number, fields: splitLine(text, delimiter) });
  const head = lines.slice(0, PREAMBLE_LINES_MAX + 2).map(cut);
  const header = forced.columns === undefined ? findHeader(head) : -1;
  const timeAt = Math.max(forced.columns?.indexOf("time") ?? 0, 0);
  const start = header >= 0 ? header : Math.max(head.findIndex((row) => isCandle(row, timeAt)), 0);
  const first = header < 0 ? start : header + 1 + skipSubheaders(head.slice(header));
  const rows = lines.slice(first).filter((_, i, all) => i % Math.ceil(all.length / SAMPLE_LINES_MAX) === 0).map(cut);
  const fields = header < 0 ? null : head[header]!.fields;
  const about: FileHead = {
    preamble: lines.slice(0, start).map(({ text }) => text),
    names: fields === null ? null : normalize(fields),
    second: head[header + 1]?.fields[0] ?? "",
    first: rows[0]?.fields ?? [],
  };
  const program = findProgram(about, forced.dialect);
  if (program === null) {
    const seen = JSON.stringify(lines[start]!.text.slice(0, 120));
    throw new CsvError(`Cannot read the file as one of ${forced.dialect}: its first line is ${seen}`, {
      parameter: "dialect",
    });
  }
  const columns = forced.columns !== undefined
    ? placeColumns(forced.columns, null)
    : fields !== null
    ? parseHeader(fields, rows.slice(0, 50).map((row) => row.fields), lines[header]!.text)
    : program.columns !== undefined
    ? placeColumns(program.columns, null)
    : guessColumns(rows, lines[start]!.text);
  const times = rows.map(({ number, fields }) => ({ text: fields[columns.time] ?? "", line: number }));
  const dateOrder = forced.dateOrder ?? program.dateOrder ?? findDateOrder(times, isWhole);
  if (dateOrder === undefined) return null;
  const unit = forced.timeUnit ?? epochOf(times);
  return {
    program: program.name,
    delimiter: delimiter.charCodeAt(0),
    headerLines: (lines[first]?.number ?? lines.at(-1)!.number + 1) - 1,
    columns,
    dateOrder: unit === null ? dateOrder : null,
    timeUnit: unit,
    isUnitForced: forced.timeUnit !== undefined,
    decimalMark: forced.decimalMark ?? markOf(rows, columns, delimiter),
    timezone: forced.timezone ?? "UTC",
  };
}

function toLines(sample: Uint8Array): Line[] {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(sample);
  } catch {
    // Spreadsheets of Windows write the one-byte characters of Western Europe.
    text = new TextDecoder("windows-1252").decode(sample);
  }
  return text.split("\n").map((line, i) => ({ number: i + 1, text: line.trimEnd() })).filter(({ text }) => text !== "");
}

/** The first delimiter that most lines have as often as a candle has fields. A decimal comma is in each line, too: the comma comes last. */
function findDelimiter(lines: readonly Line[]): string {
  const some = lines.slice(0, 100);
  const fits = (delimiter: string) => {
    const counts = some.map(({ text }) => splitLine(text, delimiter).length);
    return counts.filter((count) => count >= FIELDS_MIN).length * 2 >= some.length;
  };
  return DELIMITERS.find(fits) ?? ",";
}

/** Cuts a line into its fields, without the quotes around them. */
function splitLine(text: string, delimiter: string): string[] {
  const fields: string[] = [];
  let [from, isQuoted] = [0, false];
  for (let at = 0; at <= text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted;
    if (at < text.length && (isQuoted || text[at] !== delimiter)) continue;
    fields.push(text.slice(from, at).trim().replace(/^"(.*)"$/, "$1"));
    from = at + 1;
    if (fields.length > FIELDS_MAX) throw new CsvError(`Cannot read more than ${FIELDS_MAX} columns`);
  }
  return fields;
}

/** The index of the header among the first lines: of the line that names each price, else of the first where no line is a candle; or -1. */
function findHeader(head: readonly Row[]): number {
  const named = head.findIndex(({ fields }) => isHeader(normalize(fields)));
  if (named >= 0) return named;
  return head.some((row) => isCandle(row, 0)) ? -1 : 0;
}

/** True for a time and at least four numbers. */
function isCandle({ fields }: Row, timeAt: number): boolean {
  const isTime = (text: string) => parseDate(text) !== null || (/^\d+$/.test(text) && epochUnit(text.length) !== null);
  return isTime(fields[timeAt] ?? "") && fields.filter((text, i) => i !== timeAt && isNumber(text)).length >= 4;
}

function isNumber(text: string): boolean {
  return !Number.isNaN(parseWritten(text, "point")) || !Number.isNaN(parseWritten(text, "comma"));
}

/** yfinance writes the instrument and the name of the times below the names of the columns. */
function skipSubheaders([header, ...below]: readonly Row[]): number {
  const isDoubled = header?.fields[0]?.toLowerCase() === "price" && below[0]?.fields[0]?.toLowerCase() === "ticker";
  if (!isDoubled) return 0;
  const first = below.findIndex((row) => isCandle(row, 0));
  return first < 0 ? below.length : first;
}

const CLOCK = /^\d{1,2}:\d\d(:\d\d)?$/;

/** The columns of a file without a header: a time, open, high, low, close, and the volume if there is one. */
function guessColumns(rows: readonly Row[], line: string): CsvColumns {
  const { fields } = rows[0]!;
  const hasClock = CLOCK.test(fields[1] ?? "");
  const at = hasClock ? 2 : 1;
  const mark = rows.some((row) => row.fields.slice(at, at + 4).some((text) => text.includes(","))) ? "comma" : "point";
  const isCandles = rows.every((row) => {
    const [open, high, low, close] = row.fields.slice(at, at + 4).map((text) => parseWritten(text, mark));
    return !(high! < Math.max(open!, close!) || low! > Math.min(open!, close!));
  });
  if (!isCandles) {
    throw new CsvError(
      `Cannot tell the columns of a file without a header: its first line is ${JSON.stringify(line.slice(0, 120))}: ` +
        "send columns=time,open,high,low,close,volume in the file's order",
      { parameter: "columns" },
    );
  }
  const roles: readonly ColumnRole[] = [
    "time",
    ...(hasClock ? ["clock"] as const : []),
    "open",
    "high",
    "low",
    "close",
    "volume",
  ];
  return placeColumns(fields.map((_, i) => roles[i] ?? null), null);
}

/** The order of a file's dates. @returns undefined if more lines are needed. */
function findDateOrder(times: readonly Written[], isWhole: boolean): DateOrder | null | undefined {
  let yearFirst = 0;
  const proof: { dmy?: Written; mdy?: Written; open?: Written } = {};
  let open = 0;
  for (const time of times) {
    const date = parseDate(time.text);
    if (date === null) continue;
    if (date.day !== null) yearFirst++;
    else {
      open++;
      const order = date.separator === "." || date.first > 12 ? "dmy" : date.second > 12 ? "mdy" : "open";
      proof[order] ??= time;
    }
  }
  if (yearFirst >= open) return times.some(({ text }) => /^\d{4}/.test(text)) ? "ymd" : null;
  const { dmy, mdy } = proof;
  if (dmy !== undefined && mdy !== undefined) {
    const told = `${JSON.stringify(dmy.text)} in line ${dmy.line} has the day first, ${
      JSON.stringify(mdy.text)
    } in line ${mdy.line} the month`;
    throw ambiguousDates(`${told}: write them in one order, or`);
  }
  if (dmy !== undefined || mdy !== undefined) return dmy === undefined ? "mdy" : "dmy";
  if (!isWhole) return undefined;
  const { text, line } = proof.open!;
  const date = parseDate(text)!;
  const iso = (order: DateOrder) => new Date(dayIn(date, order) * DAY_MS).toISOString().slice(0, 10);
  throw ambiguousDates(
    `${JSON.stringify(text)} in line ${line} is ${iso("dmy")} (day first) or ${iso("mdy")} (month first):`,
  );
}

function ambiguousDates(reason: string): CsvError {
  return new CsvError(`Cannot tell the order of the dates: ${reason} send dateOrder=dmy or dateOrder=mdy`, {
    parameter: "dateOrder",
  });
}

/** The unit of a file whose times are numbers. */
function epochOf(times: readonly Written[]) {
  const first = times.find(({ text }) => /^\d{9,19}$/.test(text) || parseDate(text) !== null)?.text ?? "";
  return /^\d+$/.test(first) ? epochUnit(first.length) : null;
}

function markOf(rows: readonly Row[], { values }: CsvColumns, delimiter: string) {
  const volume = values[4]!;
  const pick = (indexes: readonly number[]): Written[] =>
    rows.flatMap(({ number, fields }) => indexes.map((index) => ({ text: fields[index] ?? "", line: number })));
  return findDecimalMark(pick(values.slice(0, 4)), pick(volume < 0 ? [] : [volume]), delimiter !== ";");
}
