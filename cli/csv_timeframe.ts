const HEAD_BYTES = 64 * 1024;

// The service's own names. It refuses a wrong guess and lists the right ones.
const NAMES: readonly (readonly [minutes: number, name: string])[] = [
  [1, "1m"],
  [5, "5m"],
  [15, "15m"],
  [30, "30m"],
  [60, "1h"],
  [240, "4h"],
  [1440, "1d"],
  [10_080, "1w"],
];

/**
 * Guesses the timeframe of a CSV file from the smallest distance between neighbours in its first lines.
 *
 * @throws Error when the first lines have no times, or times that no timeframe fits.
 */
export async function guessTimeframe(path: string): Promise<string> {
  const times = (await readHead(path)).split(/\r?\n/).slice(0, -1).map(timeOf).filter((time) => !Number.isNaN(time));
  const distances = times.slice(1).map((time, i) => Math.abs(time - (times[i] ?? time))).filter((distance) =>
    distance > 0
  );
  const minutes = Math.min(...distances) / 60_000;
  const name = isMonth(minutes) ? "1M" : NAMES.find(([length]) => length === minutes)?.[1];
  if (name === undefined) {
    throw new Error(`Cannot guess the timeframe of ${path}: give it with --timeframe`);
  }
  return name;
}

/** True if candles at this distance may be months. The distance of first or last trading days can be less than a month. */
function isMonth(minutes: number): boolean {
  return minutes >= 24 * 1440 && minutes <= 31 * 1440;
}

async function readHead(path: string): Promise<string> {
  using file = await Deno.open(path);
  const bytes = new Uint8Array(HEAD_BYTES);
  const count = await file.read(bytes) ?? 0;
  return `${new TextDecoder().decode(bytes.subarray(0, count))}${count < HEAD_BYTES ? "\n" : ""}`;
}

/** Reads the first cell of a line that is a date, an ISO time or milliseconds since 1970; NaN without one. */
function timeOf(line: string): number {
  for (const cell of line.split(",").map((text) => text.trim().replaceAll('"', ""))) {
    if (/^\d{12,14}$/.test(cell)) return Number(cell);
    if (/^\d{4}-\d{2}-\d{2}/.test(cell)) {
      return Date.parse(/[zZ]|[+-]\d{2}:?\d{2}$|^.{10}$/.test(cell) ? cell : `${cell}Z`);
    }
  }
  return NaN;
}
