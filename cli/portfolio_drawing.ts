import type { Portfolio } from "./demo_client.ts";
import type { Paint } from "./terminal.ts";

const SHADES = ["░", "▒", "▓", "█"];
const BAR_COLUMNS_MAX = 30;
const AMOUNT_COLUMNS = 12;
const money = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

type Drawn = Pick<Portfolio, "contributions" | "weights">;

/**
 * Draws a line for each instrument over time, fuller where it is a larger part of the account; red where it is short.
 *
 * @param columns Of the terminal.
 */
export function drawWeights(
  { contributions, weights: { timestamps, rows } }: Drawn,
  paint: Paint,
  columns: number,
): string {
  const names = namesOf(contributions);
  const margin = Math.max(0, ...names.map((name) => name.length)) + 1;
  const width = Math.max(1, Math.min(timestamps.length, columns - margin));
  const cells = names.map(() => new Float64Array(width));
  for (const [moment, instrument, weight] of rows) {
    const column = Math.min(width - 1, Math.floor(moment / timestamps.length * width));
    const line = cells[instrument]!;
    // A cell stands for several moments: it shows the largest weight of them.
    if (Math.abs(weight) > Math.abs(line[column]!)) line[column] = weight;
  }
  const largest = Math.max(...cells.flatMap((line) => [...line].map(Math.abs)));
  if (!(largest > 0)) return "(no positions)";
  const lines = names.map((name, i) => `${name.padStart(margin - 1)} ${drawLine(cells[i]!, largest, paint)}`.trimEnd());
  const [begin = "", end = ""] = [timestamps[0], timestamps.at(-1)].map((time) => time?.slice(0, 10));
  const dates = `${" ".repeat(margin)}${begin} ${end.padStart(width - begin.length - 1)}`;
  const key = `${SHADES[0]} up to ${percent(largest / SHADES.length)} of the account, ${SHADES.at(-1)} up to ${
    percent(largest)
  }`;
  return [...lines, paint("dim", dates), paint("dim", key)].join("\n");
}

/** Draws a bar for what each instrument gave to the result, the largest gain first. @param columns Of the terminal. */
export function drawContributions({ contributions }: Drawn, paint: Paint, columns: number): string {
  const names = namesOf(contributions);
  const margin = Math.max(0, ...names.map((name) => name.length)) + 1;
  const room = Math.max(1, Math.min(BAR_COLUMNS_MAX, columns - margin - AMOUNT_COLUMNS - 2));
  const largest = Math.max(...contributions.map(({ pnl }) => Math.abs(pnl)));
  return contributions.map((each, i) => ({ ...each, name: names[i]! })).toSorted((a, b) => b.pnl - a.pnl)
    .map(({ name, pnl, trades }) => {
      const amount = money.format(pnl).padStart(AMOUNT_COLUMNS);
      const bar = "█".repeat(largest > 0 ? Math.round(Math.abs(pnl) / largest * room) : 0);
      const text = trades === 0 ? "never held" : paint(pnl < 0 ? "red" : "green", bar);
      return `${name.padStart(margin - 1)} ${amount} ${text}`.trimEnd();
    }).join("\n");
}

/** Symbols where they are enough to tell the instruments apart. */
function namesOf(contributions: Drawn["contributions"]): string[] {
  const symbols = contributions.map(({ instrument }) => instrument.slice(0, instrument.lastIndexOf("@")));
  return new Set(symbols).size === symbols.length ? symbols : contributions.map(({ instrument }) => instrument);
}

/** Paints cells, neighbours of one side together. */
function drawLine(weights: Float64Array, largest: number, paint: Paint): string {
  let drawn = "";
  for (let from = 0; from < weights.length;) {
    const side = Math.sign(weights[from]!);
    let text = "";
    for (; from < weights.length && Math.sign(weights[from]!) === side; from++) {
      text += side === 0 ? " " : SHADES[Math.min(3, Math.floor(Math.abs(weights[from]!) / largest * SHADES.length))];
    }
    drawn += side === 0 ? text : paint(side < 0 ? "red" : "green", text);
  }
  return drawn.trimEnd();
}

function percent(fraction: number): string {
  return `${Math.round(fraction * 100)}%`;
}
