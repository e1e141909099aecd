/** Draws curves as a picture for messengers, which show no SVG. */
import { encode } from "fast-png";

/** The smallest size that messengers show large: a larger one takes four times as long. */
const WIDTH = 600;
const HEIGHT = 315;
const MARGIN = 28;
const LINE_PX = 1.75;

type Color = readonly [red: number, green: number, blue: number];

const PAGE: Color = [15, 23, 32];
const GRID: Color = [38, 50, 64];
/** Colors of a run that won, of one that lost, and of the runs of a comparison, as in the console. */
const GAIN: Color = [38, 166, 154];
const LOSS: Color = [239, 83, 80];
const COMPARED: readonly Color[] = [[91, 141, 239], [240, 160, 60], [38, 166, 154], [200, 110, 220], [239, 83, 80]];

/**
 * A PNG of equity curves on one scale, over a line at the initial balance.
 *
 * @param curves Fractions of the initial balance, at least two points each, at most 60.
 */
export function drawCurves(curves: readonly (readonly number[])[]): Uint8Array<ArrayBuffer> {
  const data = new Uint8Array(WIDTH * HEIGHT * 3);
  data.set(PAGE);
  // Each copy doubles what is painted.
  for (let done = PAGE.length; done < data.length; done *= 2) data.copyWithin(done, 0, done);
  const all = [1, ...curves.flat()];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const toY = (value: number) =>
    HEIGHT - MARGIN - (high === low ? 0.5 : (value - low) / (high - low)) * (HEIGHT - 2 * MARGIN);
  const plane = { data };
  const start = toY(1);
  drawColumns(plane, () => [start, start], { color: GRID, halfPx: 0.75 });
  for (const [i, curve] of curves.entries()) {
    const color = curves.length > 1 ? COMPARED[i % COMPARED.length]! : curve.at(-1)! < 1 ? LOSS : GAIN;
    const yAt = (x: number) => toY(valueAt(curve, (x - MARGIN) / (WIDTH - 2 * MARGIN)));
    if (curves.length === 1) fillTo(plane, yAt, start, color);
    const halfAt = (x: number): readonly [number, number] => {
      const ys = [yAt(x - 0.5), yAt(x), yAt(x + 0.5)];
      return [Math.min(...ys), Math.max(...ys)];
    };
    drawColumns(plane, halfAt, { color, halfPx: LINE_PX });
  }
  return new Uint8Array(encode({ width: WIDTH, height: HEIGHT, data, channels: 3 }));
}

/** The value of a curve at a fraction of its length, between its points. */
function valueAt(curve: readonly number[], fraction: number): number {
  const place = Math.min(1, Math.max(0, fraction)) * (curve.length - 1);
  const before = Math.floor(place);
  const [left = 1, right = left] = curve.slice(before, before + 2);
  return left + (right - left) * (place - before);
}

interface Plane {
  readonly data: Uint8Array;
}

/** Draws a line, column by column. @param spanAt The heights between which the line lies in a column. */
function drawColumns(
  plane: Plane,
  spanAt: (x: number) => readonly [top: number, bottom: number],
  { color, halfPx }: { readonly color: Color; readonly halfPx: number },
): void {
  for (let x = MARGIN; x < WIDTH - MARGIN; x++) {
    const [top, bottom] = spanAt(x);
    for (let y = Math.floor(top - halfPx - 1); y <= Math.ceil(bottom + halfPx + 1); y++) {
      const outside = Math.max(top - y, y - bottom, 0);
      blend(plane, x, y, color, Math.min(1, Math.max(0, halfPx + 0.5 - outside)));
    }
  }
}

/** Fills what lies between a curve and a height. */
function fillTo(plane: Plane, yAt: (x: number) => number, base: number, color: Color): void {
  for (let x = MARGIN; x < WIDTH - MARGIN; x++) {
    const [top, bottom] = [Math.min(yAt(x), base), Math.max(yAt(x), base)];
    for (let y = Math.ceil(top); y <= bottom; y++) blend(plane, x, y, color, 0.18);
  }
}

function blend({ data }: Plane, x: number, y: number, color: Color, part: number): void {
  if (y < 0 || y >= HEIGHT) return;
  const at = (y * WIDTH + x) * 3;
  for (let i = 0; i < 3; i++) data[at + i] = Math.round(data[at + i]! * (1 - part) + color[i]! * part);
}
