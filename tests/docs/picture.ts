/**
 * The picture in README.md, drawn from what the demonstration prints: `deno task picture` writes docs/demo.svg.
 *
 * Lines and bars are shapes and each text has a fixed width, so that the picture looks alike with any font.
 */
import { runTask } from "../support/process.ts";

const FILE = new URL("../../docs/demo.svg", import.meta.url);
const COMMAND = `$ npx -y deno@${Deno.version.deno} task demo`;
const ESCAPE = "\u001b[";
// The part that is shown.
const FIRST = `${ESCAPE}1mSMA Cross on`;
const END = "\n\nHow to go on";
const CELL = { width: 8.4, height: 18 };
const MARGIN = 20;
const TITLE_BAR = 30;
const BASELINE = 13.5;
const BACKGROUND = "#0d1117";
const BORDER = "#30363d";
const COLORS: Readonly<Record<string, string>> = {
  "": "#c9d1d9",
  1: "#f0f6fc",
  2: "#6e7681",
  31: "#ff7b72",
  32: "#3fb950",
  36: "#39c5cf",
};
const BUTTONS = ["#ff5f57", "#febc2e", "#28c840"];

/** The sides of a cell that a line-drawing character joins; a round one is a curve. */
const SIDES: Readonly<Record<string, string>> = {
  "─": "WE",
  "│": "NS",
  "┌": "ES",
  "┐": "WS",
  "└": "NE",
  "┘": "NW",
  "┬": "WES",
  "┴": "WEN",
  "├": "NSE",
  "┤": "NSW",
  "┼": "NSWE",
};
const CURVES: Readonly<Record<string, string>> = { "╭": "SE", "╮": "SW", "╰": "NE", "╯": "NW" };

/** Characters of one style in a row. */
interface Run {
  readonly row: number;
  readonly column: number;
  readonly style: string;
  readonly text: string;
}

/** Draws what the demonstration printed with colours, from the backtest on. @returns An SVG document. */
export function drawPicture(output: string): string {
  const printed = output.slice(output.indexOf(FIRST), output.indexOf(END));
  const lines = `${COMMAND}\n\n${printed}`.split("\n");
  const runs = lines.flatMap(readRuns);
  const columns = Math.max(...runs.map(({ column, text }) => column + text.length));
  const width = round(columns * CELL.width + 2 * MARGIN);
  const height = round(lines.length * CELL.height + TITLE_BAR + 2 * MARGIN - 8);
  const styles = [...new Set(runs.map(({ style }) => style))].toSorted();
  const buttons = BUTTONS.map((color, i) => `<circle cx="${MARGIN + i * 18}" cy="20" r="6" fill="${color}"/>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    "<title>A backtest in the terminal: metrics, the equity curve and the last trades</title>",
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${
      height - 1
    }" rx="10" fill="${BACKGROUND}" stroke="${BORDER}"/>`,
    ...buttons,
    `<g transform="translate(${MARGIN} ${
      TITLE_BAR + MARGIN - 8
    })" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`,
    ...styles.flatMap((style) => drawStyle(style, runs.filter((run) => run.style === style))),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function readRuns(line: string, row: number): Run[] {
  let column = 0;
  return line.split(ESCAPE).flatMap((part, i) => {
    const [, code = "", text = ""] = i === 0 ? ["", "", part] : /^(\d+)m(.*)$/.exec(part) ?? [];
    const run = { row, column, style: code === "0" ? "" : code, text };
    column += text.length;
    return text === "" ? [] : [run];
  });
}

function drawStyle(style: string, runs: readonly Run[]): string[] {
  const color = COLORS[style];
  if (color === undefined) throw new Error(`Cannot draw the ANSI style ${style}: give it a colour`);
  const strokes = runs.flatMap(drawLines).join("");
  const bars = runs.flatMap(drawBars);
  const texts = runs.flatMap(drawTexts);
  return [
    `<g fill="${color}"${style === "1" ? ' font-weight="bold"' : ""}>`,
    ...(strokes === "" ? [] : [drawPath(strokes, style === "" ? COLORS[2]! : color)]),
    ...bars,
    ...texts,
    "</g>",
  ];
}

function drawPath(strokes: string, color: string): string {
  return `<path d="${strokes}" fill="none" stroke="${color}" stroke-width="1.4" stroke-linecap="round"/>`;
}

/** Paths of line-drawing characters, from the middle of a cell to its sides. */
function drawLines({ row, column, text }: Run): string[] {
  return [...text].flatMap((character, i) => {
    const [left, top] = [(column + i) * CELL.width, row * CELL.height];
    const [x, y] = [left + CELL.width / 2, top + CELL.height / 2];
    const ends: Readonly<Record<string, string>> = {
      N: `${round(x)} ${round(top)}`,
      S: `${round(x)} ${round(top + CELL.height)}`,
      W: `${round(left)} ${round(y)}`,
      E: `${round(left + CELL.width)} ${round(y)}`,
    };
    const middle = `${round(x)} ${round(y)}`;
    const [from, to] = CURVES[character] ?? "";
    if (from !== undefined && to !== undefined) return [`M${ends[from]}Q${middle} ${ends[to]}`];
    return [...SIDES[character] ?? ""].map((side) => `M${middle}L${ends[side]}`);
  });
}

/** Rectangles of a progress bar. */
function drawBars({ row, column, text }: Run): string[] {
  return [...text.matchAll(/█+/g)].map(({ 0: bar, index }) => {
    const [x, y] = [round((column + index) * CELL.width), round(row * CELL.height + 3)];
    return `<rect x="${x}" y="${y}" width="${round(bar.length * CELL.width)}" height="12"/>`;
  });
}

/** Words, each at its own column. */
function drawTexts({ row, column, text }: Run): string[] {
  return [...text.matchAll(/[^\s\u2500-\u259f]+(?: [^\s\u2500-\u259f]+)*/g)].map(({ 0: words, index }) => {
    const [x, y] = [round((column + index) * CELL.width), round(row * CELL.height + BASELINE)];
    const escaped = words.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    return `<text x="${x}" y="${y}" textLength="${round(words.length * CELL.width)}">${escaped}</text>`;
  });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

if (import.meta.main) {
  const { code, stdout, stderr } = await runTask("demo", ["--color"]);
  if (code !== 0) throw new Error(`Cannot run the demonstration: ${stderr}`);
  await Deno.writeTextFile(FILE, drawPicture(stdout));
}
