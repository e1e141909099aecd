import { FileText } from "../market/csv/file_text.ts";
import { recognise } from "../market/csv/recognise.ts";
import { guessTimeframe, readTimes, restsOnWeekends } from "../market/csv/sample_times.ts";
import { DATE_ORDERS, type DateOrder } from "../market/csv/terms.ts";

export type { DateOrder };

const SAMPLE_BYTES_MAX = 4_194_304;
const NEWLINE = 0x0a;

/** Guesses about a file of candles. */
interface SeriesGuess {
  readonly timeframe: string;
  /** True for days that leave out Saturdays and Sundays, as those of stocks do. */
  readonly restsOnWeekends: boolean;
}

/**
 * Guesses the timeframe of a file from the smallest distance between neighbours in its first lines.
 *
 * @param given The user's own words. @throws Error when the first lines have no times, or times that no timeframe fits.
 */
export async function guessSeries(
  path: string,
  given: { readonly timeframe?: string | undefined; readonly dateOrder?: DateOrder | undefined } = {},
): Promise<SeriesGuess> {
  const sample = await readSample(path);
  const dialect = recognise(sample, true, { dateOrder: given.dateOrder });
  const times = dialect === null ? [] : readTimes(sample, dialect).times;
  const timeframe = given.timeframe ?? guessTimeframe(times);
  if (timeframe === null) throw new Error(`Cannot guess the timeframe of ${path}: give it with --timeframe`);
  return { timeframe, restsOnWeekends: timeframe === "1d" && restsOnWeekends(times) };
}

/** The order of dates that a command line asks for. @throws Error for another word. */
export function readOrder(text: string | undefined): DateOrder | undefined {
  const order = DATE_ORDERS.find((each) => each === text);
  if (text !== undefined && order === undefined) {
    throw new Error(`Cannot read dates in the order ${text}: use ${DATE_ORDERS.join(", ")}`);
  }
  return order;
}

/** @throws Error where there is no such file. */
async function openCandles(path: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(path);
  } catch (error) {
    throw error instanceof Deno.errors.NotFound ? new Error(`Cannot read ${path}: there is no such file`) : error;
  }
}

/** The beginning of a file, unpacked, in whole lines. */
async function readSample(path: string): Promise<Uint8Array> {
  const file = await openCandles(path);
  const sample = new Uint8Array(SAMPLE_BYTES_MAX);
  let length = 0;
  for await (const piece of new FileText(file.readable, Infinity).pieces()) {
    const part = piece.subarray(0, SAMPLE_BYTES_MAX - length);
    sample.set(part, length);
    length += part.length;
    if (length === SAMPLE_BYTES_MAX) return sample.subarray(0, sample.lastIndexOf(NEWLINE) + 1);
  }
  if (sample[length - 1] !== NEWLINE) sample[length++] = NEWLINE;
  return sample.subarray(0, length);
}
