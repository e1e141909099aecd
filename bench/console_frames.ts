/** The frames of a page while the pointer drags over it and its wheel turns. */
import type { Stage } from "../tests/support/stage.ts";
import { quantile } from "./measure.ts";

type Page = Awaited<ReturnType<Stage["browser"]["newPage"]>>;

const [MOVES, WHEELS, SCROLLS] = [120, 24, 60];
/** A share of the run is in view while it is dragged: the whole of it cannot be moved. */
const CLOSER = 8;
const BEGIN = `(() => {
  const times = [];
  const tick = (time) => { times.push(time); frames.next = requestAnimationFrame(tick); };
  globalThis.frames = { times, next: requestAnimationFrame(tick) };
})()`;
const END = `(cancelAnimationFrame(frames.next), frames.times.slice(1).map((time, n) => time - frames.times[n]))`;

/** Milliseconds between the frames of a page. */
export interface Frames {
  readonly pan: readonly number[];
  readonly zoom: readonly number[];
  readonly scroll: readonly number[];
}

/** Zooms a page in and out around a point of it, and drags it to and fro. @param at The point; there is room for a drag around it. */
export async function measureFrames(
  page: Page,
  at: { readonly x: number; readonly y: number },
): Promise<Pick<Frames, "pan" | "zoom">> {
  const { mouse } = page;
  await mouse.move(at.x, at.y);
  const zoom = await recordFrames(page, async () => {
    for (const turn of [-120, 120]) {
      for (let n = 0; n < WHEELS; n++) await mouse.wheel(0, turn);
    }
  });
  for (let n = 0; n < CLOSER; n++) await mouse.wheel(0, -120);
  await page.waitForTimeout(500);
  const pan = await recordFrames(page, async () => {
    await mouse.down();
    for (let n = 0; n < MOVES; n++) {
      await mouse.move(at.x + 300 * Math.sin(2 * Math.PI * n / (MOVES / 2)), at.y);
    }
    await mouse.up();
  });
  return { pan, zoom };
}

/** The interval that this share of the frames of several visits is within. */
export function within(share: number, visits: readonly Frames[], move: keyof Frames): number {
  return quantile(visits.flatMap((visit) => visit[move]), share);
}

/** Milliseconds between the frames of a page whose wheel turns over a point, down and up again. */
export async function measureScroll(
  page: Page,
  at: { readonly x: number; readonly y: number },
): Promise<readonly number[]> {
  await page.mouse.move(at.x, at.y);
  return await recordFrames(page, async () => {
    for (const turn of [400, -400]) {
      for (let n = 0; n < SCROLLS; n++) await page.mouse.wheel(0, turn);
    }
  });
}

async function recordFrames(page: Page, act: () => Promise<void>): Promise<readonly number[]> {
  await page.evaluate(BEGIN);
  await act();
  const intervals = await page.evaluate(END);
  if (!Array.isArray(intervals)) throw new Error("Cannot read the browser's frames");
  return intervals.map(Number);
}
