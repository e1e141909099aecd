/**
 * The console in a real browser: how soon a result is on the screen, how long 527,040 candles take from the address to the drawn
 * chart, how much JavaScript the first page loads, and how long a frame takes while those candles, with the marks of their trades, are
 * dragged and zoomed and the table of trades is scrolled, beside an empty page under the same pointer. Each figure
 * is of some fresh visits, beside its goal; the service runs on the embedded database of the same machine.
 */
import { shareSession } from "../tests/support/browser.ts";
import { onStage, type Stage } from "../tests/support/stage.ts";
import { makeRun } from "../tests/web/sample_runs.ts";
import { type Frames, measureFrames, measureScroll, within } from "./console_frames.ts";
import { median, report } from "./measure.ts";

const VISITS = 5;
const PAINT_GOAL_MS = 1000;
const SCRIPT_GOAL_KB = 250;
const DIST = new URL("../web/dist/", import.meta.url);

type Context = Awaited<ReturnType<Stage["browser"]["newContext"]>>;

/** Milliseconds from the start of the navigation. */
interface Visit {
  readonly paintMs: number;
  readonly drawnMs: number;
}

await onStage(async (stage) => {
  const hours = await makeRun(stage.client, "good");
  const minutes = await makeRun(stage.client, "many-trades");
  const short = await visitOften(stage, hours);
  const long = await visitOften(stage, minutes);
  const paint = { of: "ours", most: PAINT_GOAL_MS } as const;
  await report({ measure: "console: first paint, a year of 1h", ours: medianOf(short, "paintMs"), goal: paint });
  await report({ measure: "console: first paint, a year of 1m", ours: medianOf(long, "paintMs"), goal: paint });
  await report({ measure: "console: 8,784 candles drawn", ours: medianOf(short, "drawnMs") });
  await report({ measure: "console: 527,040 candles drawn", ours: medianOf(long, "drawnMs") });
  const measure = "console: JavaScript of the first page, gzipped";
  await report({ measure, ours: scriptBytes() / 1000, unit: "kB", goal: { of: "ours", most: SCRIPT_GOAL_KB } });
  await reportFrames(stage, minutes);
});
Deno.exit();

async function visitOften(stage: Stage, id: string): Promise<Visit[]> {
  const visits: Visit[] = [];
  for (let n = 0; n < VISITS; n++) {
    const context = await stage.browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-US" });
    await shareSession(context, stage.client);
    visits.push(await visit(context, `${stage.url}/runs/${id}`));
    await context.close();
  }
  return visits;
}

/** A chart is drawn once its first canvas has as many colours as candles need. */
async function visit(context: Context, address: string): Promise<Visit> {
  const page = await context.newPage();
  await page.goto(address, { waitUntil: "commit" });
  const drawnMs = await page.evaluate(`new Promise((resolve) => {
    const look = () => {
      const canvas = document.querySelector("[role=img] canvas");
      if (canvas === null || canvas.width * canvas.height === 0) return requestAnimationFrame(look);
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      if (new Set(new Uint32Array(data.buffer)).size > 20) resolve(performance.now());
      else requestAnimationFrame(look);
    };
    look();
  })`);
  const paintMs = await page.evaluate(`performance.getEntriesByName("first-contentful-paint")[0].startTime`);
  if (typeof drawnMs !== "number" || typeof paintMs !== "number") throw new Error("Cannot read the browser's times");
  return { paintMs, drawnMs };
}

/** Visits the run, its trades and an empty page in turns. */
async function reportFrames(stage: Stage, id: string): Promise<void> {
  const [ours, empty]: [Frames[], Frames[]] = [[], []];
  for (let n = 0; n < VISITS; n++) {
    const context = await stage.browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-US" });
    await shareSession(context, stage.client);
    const page = await context.newPage();
    await page.goto("about:blank");
    const middle = { x: 720, y: 480 };
    empty.push({ ...await measureFrames(page, middle), scroll: await measureScroll(page, middle) });
    await page.goto(`${stage.url}/runs/${id}?tab=trades`);
    await page.getByText(/fills in view: zoom in to see them/).waitFor();
    const chart = await page.locator("[role=img] canvas").first().boundingBox();
    const frames = await measureFrames(page, { x: 720, y: chart!.y + 80 });
    const trades = page.getByRole("region", { name: "Trades" });
    await trades.getByRole("row").nth(9).waitFor();
    await trades.scrollIntoViewIfNeeded();
    const rows = await trades.boundingBox();
    ours.push({ ...frames, scroll: await measureScroll(page, { x: 720, y: rows!.y + rows!.height / 2 }) });
    await context.close();
  }
  const moves = { pan: "pan over 527,040 candles", zoom: "zoom over 527,040 candles", scroll: "scroll the trades" };
  for (const move of ["pan", "zoom", "scroll"] as const) {
    for (const [words, share] of [["half of the frames", 0.5], ["19 of 20 frames", 0.95]] as const) {
      await report({
        measure: `console: ${moves[move]}, ${words} within`,
        ours: within(share, ours, move),
        reference: { name: "an empty page", value: within(share, empty, move) },
      });
    }
  }
}

function scriptBytes(): number {
  const page = Deno.readTextFileSync(new URL("index.html", DIST));
  const files = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, path]) => path!);
  return files.reduce((bytes, path) => bytes + Deno.statSync(new URL(`${path}.gz`, DIST)).size, 0);
}

function medianOf(visits: readonly Visit[], key: keyof Visit): number {
  return median(visits.map((one) => one[key]));
}
