/** Marks of places in a script, as its realm and the parent of its process know them. */

/** The word of a marked script's place, behind that of the candles it has decided on (script/mark_places.ts). */
export const PLACE_WORD = 1;
/** A mark is a line times this number, and a column below it. */
export const PLACE_COLUMNS = 4096;

/** `9:13` of a mark; the line alone where it is longer than a mark can tell. */
export function readPlace(mark: number): string {
  const column = mark % PLACE_COLUMNS;
  return `${Math.floor(mark / PLACE_COLUMNS)}${column === PLACE_COLUMNS - 1 ? "" : `:${column}`}`;
}
