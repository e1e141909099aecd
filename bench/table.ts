/** The table of measures that ends `deno task bench`. */

/** A measure, beside another of the same run and the goal that it is held to. */
export interface Row {
  readonly measure: string;
  readonly ours: number;
  /** The same work done in the least or another way. */
  readonly reference?: { readonly name: string; readonly value: number } | null;
  /** The most or the least that `ours`, or its ratio to the reference, may be. */
  readonly goal?: { readonly of: "ours" | "ratio"; readonly most?: number; readonly least?: number } | null;
  /** Of both figures; milliseconds where absent. */
  readonly unit?: string;
}

const HEAD = ["measure", "ours", "reference", "ratio", "goal"];
const WIDTHS_MIN = [60, 12, 44, 8, 18];

/** Rows as lines of text: the measure, ours, the reference, their ratio, and the goal with whether it is met. */
export function formatTable(rows: readonly Row[], { hasHead }: { readonly hasHead: boolean }): string {
  const cells = [...(hasHead ? [HEAD] : []), ...rows.map(cellsOf)];
  const widths = WIDTHS_MIN.map((least, column) => Math.max(least, ...cells.map((row) => row[column]!.length)));
  return cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd()).join("\n");
}

function cellsOf({ measure, ours, reference = null, goal = null, unit = "ms" }: Row): string[] {
  const ratio = reference === null ? NaN : ours / reference.value;
  return [
    measure,
    `${digits(ours)} ${unit}`,
    reference === null ? "" : `${digits(reference.value)} ${unit}: ${reference.name}`,
    Number.isNaN(ratio) ? "" : `${ratio.toFixed(2)} x`,
    goal === null ? "" : goalOf(goal, goal.of === "ours" ? ours : ratio, goal.of === "ours" ? ` ${unit}` : " x"),
  ];
}

function goalOf({ most = Infinity, least = -Infinity }: NonNullable<Row["goal"]>, value: number, unit: string): string {
  const bound = Number((most === Infinity ? least : most).toPrecision(4));
  const limit = `${most === Infinity ? "at least" : "at most"} ${bound}${unit}`;
  return value <= most && value >= least ? limit : `${limit}: missed`;
}

/** A figure with as many digits as matter. */
function digits(value: number): string {
  return Math.abs(value) < 10 ? value.toFixed(2) : Math.abs(value) < 100 ? value.toFixed(1) : value.toFixed(0);
}
