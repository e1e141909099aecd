import type { Paint } from "./terminal.ts";

type Value = string | number | boolean;

/** A metric over one or two parameters, as the service's surfaces have it. */
interface DrawnSurface {
  readonly x: { readonly parameter: string; readonly values: readonly Value[] };
  readonly y: { readonly parameter: string; readonly values: readonly Value[] } | null;
  /** A row for each value of y; null where there is no trial. */
  readonly values: readonly (readonly (number | null)[])[];
}

const SHADES = ["░", "▒", "▓", "█"];
const CELL_COLUMNS = 3;

/**
 * Draws a cell for each pair of values, a fuller one for each higher quarter of them; below zero it is red. Columns without room are left
 * out.
 *
 * @param columns Of the terminal.
 */
export function drawHeatMap({ x, y, values }: DrawnSurface, paint: Paint, columns: number): string {
  const labels = y === null ? [""] : y.values.map(String);
  const margin = Math.max(...labels.map((label) => label.length)) + 1;
  const shown = Math.max(1, Math.min(x.values.length, Math.floor((columns - margin) / CELL_COLUMNS)));
  const known = values.flat().filter((value) => value !== null);
  const sorted = known.toSorted((a, b) => a - b);
  const drawCell = (value: number | null) => {
    if (value === null) return " ".repeat(CELL_COLUMNS);
    const shade = SHADES[Math.floor(sorted.lastIndexOf(value) / sorted.length * SHADES.length)]!;
    return paint(value < 0 ? "red" : "green", shade.repeat(CELL_COLUMNS));
  };
  // The highest value is at the top, as on a chart.
  const lines = values.map((row, i) =>
    `${labels[i]!.padStart(margin - 1)} ${row.slice(0, shown).map(drawCell).join("")}`
  )
    .reverse();
  const below = x.values.slice(0, shown).map((value) => String(value).slice(0, CELL_COLUMNS - 1).padEnd(CELL_COLUMNS))
    .join("");
  const title = `${y === null ? "" : `${y.parameter} up, `}${x.parameter} across`;
  return [...lines, `${" ".repeat(margin)}${paint("dim", below.trimEnd())}`, paint("dim", title)].join("\n");
}
