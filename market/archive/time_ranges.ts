/** A range of time [start, end), milliseconds since 1970. */
export interface TimeRange {
  readonly start: number;
  readonly end: number;
}

/** The rest of a range without the others, which must be sorted by start. */
export function subtractRanges(
  wanted: TimeRange,
  others: readonly { readonly start: Date; readonly end: Date }[],
): TimeRange[] {
  const left: TimeRange[] = [];
  let from = wanted.start;
  for (const other of others) {
    const [start, end] = [other.start.getTime(), other.end.getTime()];
    if (end <= from) continue;
    if (start >= wanted.end) break;
    if (start > from) left.push({ start: from, end: start });
    from = end;
  }
  if (from < wanted.end) left.push({ start: from, end: wanted.end });
  return left;
}
