import { expect } from "@std/expect";
import type { Candles } from "../../../../engine/candles.ts";
import type { Finding } from "../../../../engine/result.ts";
import type { RemoteTask } from "../../../../workers/common/remote_task.ts";
import { planBatches } from "../../../../workers/sandbox/remote/batch.ts";
import { runRemote } from "../../../../workers/sandbox/remote/run.ts";
import { type Endpoint, remoteTask, type Request, serveDecisions, serveJson, wave } from "./endpoints.ts";

const COUNT = 3000;

async function findings(endpoint: Endpoint, given: Partial<RemoteTask> = {}) {
  const task = await remoteTask(endpoint.url, { candles: wave(COUNT), lookbackCandles: 20, ...given });
  const answer = await runRemote(task, () => {});
  if (answer.type !== "completed") throw new Error(JSON.stringify(answer));
  return answer.integrity;
}

/** Minutes with a trend, so that the past does not predict the future. */
function drift(count: number): Candles {
  let state = 7;
  const close = new Float64Array(count);
  for (let i = 0, price = 1000; i < count; i++) {
    state = Math.imul(state, 1664525) + 1013904223 >>> 0;
    price += 0.1 + (state / 2 ** 32 - 0.5) * 4;
    close[i] = price;
  }
  return { ...wave(count), open: close, high: close, low: close, close };
}

/** Status and evidence on one line. */
function line({ status, evidence }: Finding): string {
  return `${status}: ${evidence}`;
}

const BUY = [{ side: "buy", size: 1, when: "flat" }];
const SELL = [{ action: "close", when: "long" }];

/** Decides by two neighbouring closes, `ahead` candles after the one to decide on. */
function trendFollower(ahead: number) {
  return ({ candles: { close } }: Request, at: number) => {
    const [before, now] = [close[at + ahead - 1], close[at + ahead]];
    if (before === undefined || now === undefined) return [];
    return now > before ? BUY : SELL;
  };
}

Deno.test("an honest endpoint passes every check", async () => {
  await using endpoint = serveDecisions(trendFollower(0));
  const { lookahead, determinism, warm_up, orders } = await findings(endpoint);
  expect([lookahead, determinism, warm_up, orders].map(line)).toEqual([
    expect.stringMatching(
      /^passed: Asked again at 16 candles with all later candles withheld: the decisions were the same\.$/,
    ),
    "passed: Equal requests about 64 candles: the decisions were the same.",
    "passed: Asked again at 4 candles with twice the history: the decisions were the same.",
    expect.stringMatching(/^passed: The simulator refused none of \d+ orders\.$/),
  ]);
});

Deno.test("an endpoint that looks one candle ahead is caught, with the candle", async () => {
  await using endpoint = serveDecisions(trendFollower(1));
  const { lookahead, warm_up } = await findings(endpoint);
  expect(line(lookahead)).toMatch(
    /^failed: With all candles after candle \d+ \(2024-\S+Z\) withheld, the endpoint decided differently for candle \d+ \(2024-\S+Z\)\.$/,
  );
  const [after, on] = [...lookahead.evidence.matchAll(/candle (\d+)/g)].map(([, number]) => Number(number));
  expect(on).toBe(after);
  expect(line(warm_up)).toBe("skipped: Not tested: the endpoint looks ahead.");
});

Deno.test("an endpoint that looks far ahead, or at the whole request, or only seldom, is caught", async () => {
  const peekers: Readonly<Record<string, (request: Request, at: number) => unknown>> = {
    "ten ahead": trendFollower(10),
    "the whole maximum": ({ candles: { close } }, at) => close[at]! > Math.max(...close) - 1 ? SELL : BUY,
    "the last close": ({ candles: { close } }, at) => close.at(-1)! > close[at]! ? BUY : SELL,
    // Decides at one candle in 57, where the next minute brings the top.
    "tops": ({ candles: { close } }, at) =>
      close[at + 2]! < close[at + 1]! && close[at]! < close[at + 1]! ? [{ side: "sell", size: 1 }] : [],
  };
  for (const [name, decide] of Object.entries(peekers)) {
    for (const seed of [1, 2, 3, 4, 5]) {
      await using endpoint = serveDecisions(decide);
      const { lookahead } = await findings(endpoint, { seed, candles: drift(COUNT) });
      expect([name, seed, lookahead.status]).toEqual([name, seed, "failed"]);
    }
  }
});

Deno.test("an endpoint that breaks when the future is withheld is caught, too", async () => {
  await using endpoint = serveJson((request) => {
    // Knows where a run's stretches end, and needs two more candles everywhere else.
    const end = request.first_asked + request.asked;
    if (![64, 320, 1344, COUNT].includes(end)) {
      return Response.json({ error: "list index out of range" }, { status: 400 });
    }
    return { version: 1, decisions: new Array(request.asked).fill([]) };
  });
  const { lookahead } = await findings(endpoint);
  expect(line(lookahead)).toMatch(/^failed: With all candles after candle \d+ .* failed: .*list index out of range$/);
});

Deno.test("for an endpoint with random decisions the look-ahead check is skipped", async () => {
  let questions = 0;
  await using endpoint = serveJson(({ asked }) => {
    questions++;
    return { version: 1, decisions: Array.from({ length: asked }, (_, n) => n === questions ? BUY : []) };
  });
  const { determinism, lookahead, warm_up } = await findings(endpoint);
  expect(line(determinism)).toMatch(
    /^failed: On an equal request, the endpoint decided differently for candle \d+ \(2024/,
  );
  expect([lookahead.status, warm_up.status]).toEqual(["skipped", "skipped"]);
});

Deno.test("when the endpoint is gone, the checks are skipped and the run stands", async () => {
  let answers = 0;
  await using endpoint = serveJson(({ asked }) =>
    ++answers > 4 ? new Response(null, { status: 404 }) : { version: 1, decisions: new Array(asked).fill([]) }
  );
  const { determinism, lookahead, warm_up } = await findings(endpoint);
  expect(line(determinism)).toMatch(/^skipped: The endpoint failed on a repeated request: .*HTTP 404/);
  expect([lookahead.status, warm_up.status]).toEqual(["skipped", "skipped"]);
});

Deno.test("an indicator that needs more history than it asks for fails the warm-up check, not the look-ahead check", async () => {
  // An exponential average over 50 candles that starts at the first candle of the request.
  const decide = ({ candles: { close } }: Request, at: number) => {
    let average = close[0]!;
    for (let i = 1; i <= at; i++) average += (close[i]! - average) * 2 / 51;
    return [{ side: "buy", size: Number((average / 1000).toFixed(3)), when: "flat" }];
  };
  await using endpoint = serveDecisions(decide);
  const { lookahead, warm_up } = await findings(endpoint);
  expect(lookahead.status).toBe("passed");
  expect(line(warm_up)).toMatch(
    /^failed: With exactly the 20 candles of history that it asks for, the endpoint decided differently for candle \d+ \(/,
  );
  await using settled = serveDecisions(decide);
  const { warm_up: enough } = await findings(settled, { lookbackCandles: 400 });
  expect(enough.status).toBe("passed");
});

Deno.test("orders that the simulator refuses are counted with their reasons", async () => {
  await using endpoint = serveDecisions(({ first_asked, candles, asked }, at) =>
    [3, 5].includes(first_asked + at - (candles.time.length - asked)) ? [{ side: "buy", type: "stop", size: 1 }] : []
  );
  const { orders } = await findings(endpoint);
  expect(line(orders)).toBe(
    "passed: The simulator refused 2 of 2 orders: 2 (a stop order needs a stop price above 0).",
  );
});

Deno.test("in step mode looking ahead is impossible; kept steps check determinism and history", async () => {
  const candles = wave(200);
  await using honest = serveDecisions(trendFollower(0));
  const kept = await findings(honest, { mode: "step", candles });
  expect([kept.lookahead, kept.determinism, kept.warm_up].map(line)).toEqual([
    "passed: In step mode the endpoint never gets a candle later than the one to decide on.",
    expect.stringMatching(/^passed: Asked again at [4-6] candles the same: the decisions were the same\.$/),
    expect.stringMatching(
      /^passed: Asked again at [1-6] candles with twice the 20 candles of history: the decisions were /,
    ),
  ]);
  await using hungry = serveDecisions(({ candles: { close } }) => [{ side: "buy", size: close.length, when: "flat" }]);
  expect((await findings(hungry, { mode: "step", candles })).warm_up.status).toBe("failed");
  let questions = 0;
  await using moody = serveDecisions(() => [{ side: "buy", size: ++questions, when: "flat" }]);
  expect((await findings(moody, { mode: "step", candles })).determinism.status).toBe("failed");
});

Deno.test("the checks send again at most a tenth of a long run's candles", async () => {
  for (const lookbackCandles of [0, 30, 500]) {
    await using endpoint = serveDecisions(() => []);
    const given = { candles: wave(100_000), lookbackCandles };
    const requests = planBatches(await remoteTask(endpoint.url, given)).length;
    await findings(endpoint, given);
    const sent = endpoint.requests.map(({ candles }) => candles.time.length);
    const inRun = sent.slice(0, requests).reduce((sum, count) => sum + count, 0);
    const inChecks = sent.slice(requests).reduce((sum, count) => sum + count, 0);
    expect(inRun).toBeGreaterThanOrEqual(100_000);
    expect(inChecks).toBeGreaterThan(0);
    expect(inChecks / inRun).toBeLessThan(0.1);
  }
});
