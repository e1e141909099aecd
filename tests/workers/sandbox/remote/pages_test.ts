/** Answers in pages, over HTTP: whole ones, and those of hostile endpoints. */
import { expect } from "@std/expect";
import { runRemote } from "../../../../workers/sandbox/remote/run.ts";
import { PAGES_MAX } from "../../../../workers/sandbox/remote/client.ts";
import { ACTIONS_MAX } from "../../../../workers/sandbox/remote/batch.ts";
import { remoteTask, type Request, serveDecisions, serveJson, wave } from "./endpoints.ts";

/** Two orders at each candle, of more than 600 bytes together. */
function twoOrders({ candles: { close } }: Request, at: number): readonly object[] {
  const rest = { size_by: "units", time_stop_candles: 0, candles_max: 1, tag: `close ${close[at]} `.padEnd(64, "x") };
  const [low, high] = [close[at]! - 1, close[at]! + 1];
  return [
    {
      action: "order",
      when: "always",
      id: "dip".padEnd(64),
      side: "buy",
      type: "limit",
      limit_price: low,
      size: 0.01,
      ...rest,
    },
    {
      action: "order",
      when: "always",
      id: "top".padEnd(64),
      side: "sell",
      type: "limit",
      limit_price: high,
      size: 0.01,
      ...rest,
    },
  ];
}

/** Decides on at most `count` candles of a request. */
function servePages(count: number, decide: (request: Request, at: number) => unknown) {
  return serveJson((request) => {
    const start = request.candles.time.length - request.asked;
    const decided = Math.min(count, request.asked);
    const decisions = Array.from({ length: decided }, (_, n) => decide(request, start + n));
    const plots = { close: request.candles.close.slice(start, start + decided) };
    return { version: 1, first_asked: request.first_asked, decisions, plots, more: decided < request.asked };
  });
}

Deno.test("an answer in pages gives the run of the whole answer, and passes the same checks", async () => {
  await using whole = serveDecisions(twoOrders);
  await using paged = servePages(500, twoOrders);
  const given = { candles: wave(4000), firstIndex: 100, lookbackCandles: 7 };
  const outcomes = [];
  for (const { url } of [whole, paged]) outcomes.push(await runRemote(await remoteTask(url, given), () => {}));
  const [expected, found] = outcomes;
  expect(expected).toMatchObject({ type: "completed", integrity: { lookahead: { status: "passed" } } });
  const [drawn] = Object(found).plots;
  expect({ ...drawn, values: drawn.values.slice(100) }).toEqual({
    ...{ name: "close", pane: null },
    values: given.candles.close.slice(100),
  });
  expect({ ...found, plots: [] }).toEqual(expected);
  // 3,900 candles in batches of 64, 256, 1,024 and 2,556: the last takes six pages, each with its own history.
  const last = paged.requests.filter(({ first_asked }) => first_asked >= 1344).slice(0, 6);
  expect(last.map(({ first_asked, asked }) => [first_asked, asked]).slice(0, 3)).toEqual([
    [1344, 2556],
    [1844, 2056],
    [2344, 1556],
  ]);
  for (const { candles, asked } of last) expect(candles.time.length).toBe(asked + 7);
});

Deno.test("two orders a candle, of more bytes than one answer may have, fit in pages", async () => {
  await using whole = serveDecisions(twoOrders);
  const candles = wave(6000);
  const failed = await runRemote(await remoteTask(whole.url, { candles }), () => {});
  if (failed.type !== "failed") throw new Error("The long answer was taken");
  expect(failed).toMatchObject({
    code: "ENDPOINT_FAILED",
    message: expect.stringContaining("longer than 2097152 bytes"),
  });
  await using paged = servePages(1500, twoOrders);
  const answer = await runRemote(await remoteTask(paged.url, { candles }), () => {});
  if (answer.type !== "completed") throw new Error(JSON.stringify(answer));
  expect(answer.result.orders.count).toBe(2 * 6000);
});

const HOSTILE: readonly (readonly [how: string, answer: (request: Request) => object, said: string])[] = [
  [
    "without end",
    ({ first_asked }) => ({ first_asked, decisions: [[]], more: true }),
    `/more is true after ${PAGES_MAX} pages of one answer`,
  ],
  ["empty", ({ first_asked }) => ({ first_asked, decisions: [], more: true }), "must have 1 to 63 entries"],
  ["repeated", () => ({ first_asked: 0, decisions: [[], []], more: true }), "/first_asked of a page must be 2, not 0"],
  [
    "in the wrong order",
    ({ first_asked, asked }) => ({ first_asked: 62 - first_asked, decisions: [[]], more: asked > 1 }),
    "/first_asked of a page must be 0, not 62",
  ],
  ["without a place", () => ({ decisions: [[]], more: true }), "/first_asked of a page must be 0, not missing"],
  [
    "with a last page without a place",
    ({ first_asked, asked }) =>
      first_asked === 0
        ? { first_asked, decisions: [[]], more: true }
        : { decisions: Array.from({ length: asked }, () => []) },
    "/first_asked of a page must be 1, not missing",
  ],
  [
    "longer than asked",
    ({ first_asked, asked }) => ({ first_asked, decisions: Array.from({ length: asked + 1 }, () => []), more: true }),
    "must have 1 to 63 entries when /more is true, not 65",
  ],
  ["that are not told apart", () => ({ decisions: [[]], more: "yes" }), '/more must be a boolean, not "yes"'],
];

for (const [how, answer, said] of HOSTILE) {
  Deno.test(`pages ${how} end the run`, async () => {
    await using endpoint = serveJson((request) => ({ version: 1, ...answer(request) }));
    const outcome = await runRemote(await remoteTask(endpoint.url, { candles: wave(64) }), () => {});
    expect(outcome).toMatchObject({ type: "failed", code: "INVALID_SIGNAL", message: expect.stringContaining(said) });
    expect(endpoint.requests.length).toBeLessThanOrEqual(PAGES_MAX);
  });
}

Deno.test("REMOTE.md has the limits of pages and actions", async () => {
  const page = (await Deno.readTextFile(new URL("../../../../strategies/REMOTE.md", import.meta.url)))
    .replaceAll(/\s+/g, " ");
  expect(page).toContain(`at most ${PAGES_MAX} pages`);
  expect(page).toContain(`at most ${ACTIONS_MAX.toLocaleString("en")} actions`);
});
