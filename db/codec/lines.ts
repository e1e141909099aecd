/** Stretches of a column in which each value is as far from the one before: constants, and times of candles without a gap. */
interface Lines {
  /** The rows with which the stretches begin. */
  readonly starts: Uint32Array;
  readonly firsts: Float64Array;
  readonly steps: Float64Array;
}

/** Splits a column into stretches that come back exactly; null if there are more than the most allowed. */
export function findLines(values: Float64Array, linesMax: number): Lines | null {
  const starts: number[] = [];
  const steps: number[] = [];
  for (let start = 0; start < values.length;) {
    if (starts.length === linesMax) return null;
    const step = stepAt(values, start);
    const end = step === 0 ? constantEnd(values, start) : lineEnd(values, start, step);
    starts.push(start);
    steps.push(step);
    start = end;
  }
  return {
    starts: Uint32Array.from(starts),
    firsts: Float64Array.from(starts, (start) => values[start]!),
    steps: Float64Array.from(steps),
  };
}

/** The row after the last one with the same value. */
function constantEnd(values: Float64Array, start: number): number {
  const { length } = values;
  const first = values[start]!;
  let end = start + 1;
  // -0 equals 0, and NaN differs from itself.
  if (first === 0 || first !== first) { while (end < length && Object.is(values[end], first)) end++; }
  else while (end < length && values[end] === first) end++;
  return end;
}

/** The row after the last one on the line. */
function lineEnd(values: Float64Array, start: number, step: number): number {
  const { length } = values;
  const first = values[start]!;
  let end = start + 1;
  // A zero may be -0, which would come back as 0: it ends the line.
  while (end < length && values[end] !== 0 && values[end] === first + (end - start) * step) end++;
  return end;
}

/** The distance to the next value; 0 where no line leads there. */
function stepAt(values: Float64Array, row: number): number {
  const next = values[row + 1];
  if (next === undefined || next === 0) return 0;
  const step = next - values[row]!;
  return Number.isFinite(step) ? step : 0;
}

/** The column of these stretches. @param rows Its length. */
export function joinLines({ starts, firsts, steps }: Lines, rows: number): Float64Array {
  const values = new Float64Array(rows);
  for (let line = 0; line < starts.length; line++) {
    const [start, end] = [starts[line]!, starts[line + 1] ?? rows];
    const [first, step] = [firsts[line]!, steps[line]!];
    values.fill(first, start, step === 0 ? end : start + 1);
    if (step !== 0) { for (let i = start + 1; i < end; i++) values[i] = first + (i - start) * step; }
  }
  return values;
}
