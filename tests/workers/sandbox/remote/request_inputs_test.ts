import { expect } from "@std/expect";
import { ASKED_CANDLES_MAX, findKnownFrom, type InputCandles, inputLookback } from "../../../../engine/inputs.ts";
import { planBatches } from "../../../../workers/sandbox/remote/batch.ts";
import { writeRequest } from "../../../../workers/sandbox/remote/request.ts";
import { MINUTE_MS, remoteTask, wave } from "./endpoints.ts";

const PER_CANDLE = 60;
const HOURS = 3_000;

/** Minutes beside hours: an input with 60 times as many candles. */
async function minutesBesideHours() {
  const [minutes, own] = [wave(HOURS * PER_CANDLE), wave(HOURS)];
  const time = own.time.map((_, i) => own.time[0]! + i * PER_CANDLE * MINUTE_MS);
  const closes = (opens: Float64Array, length: number) => opens.map((opened) => opened + length);
  const input: InputCandles = {
    ...{ name: "fine", candles: minutes, firstIndex: 0, perCandle: PER_CANDLE, tradingDays: null },
    knownFrom: findKnownFrom(time, closes(time, PER_CANDLE * MINUTE_MS), closes(minutes.time, MINUTE_MS)),
  };
  const task = await remoteTask("http://127.0.0.1:9/", {
    ...{ candles: { ...own, time }, inputs: [input], lookbackCandles: 20, timeframeMs: PER_CANDLE * MINUTE_MS },
  });
  return task;
}

Deno.test("no request has more candles than it may, and none is left out", async () => {
  const task = await minutesBesideHours();
  const stretches = planBatches(task);
  let next = 0;
  for (const stretch of stretches) {
    expect(stretch.first).toBe(next);
    next = stretch.until;
    const { candles, inputs: { fine } } = JSON.parse(writeRequest(task, stretch, null));
    const count = fine.candles.time.length;
    expect(candles.time.length + count).toBeLessThanOrEqual(ASKED_CANDLES_MAX);
    // As much history as a decision may depend on, and nothing that closes after the last own candle.
    const history = Math.min(inputLookback(20, PER_CANDLE), (stretch.first + 1) * PER_CANDLE);
    expect(count).toBe((stretch.until - 1 - stretch.first) * PER_CANDLE + history);
    expect(fine.candles.time.at(-1) + MINUTE_MS).toBe(candles.time.at(-1) + PER_CANDLE * MINUTE_MS);
    expect([fine.newest.length, fine.newest.at(-1)]).toEqual([candles.time.length, count - 1]);
  }
  expect(next).toBe(HOURS);
});

Deno.test("a request before an input's first close has none of it", async () => {
  const task = await minutesBesideHours();
  const [fine] = task.inputs!;
  const late = { ...fine!, knownFrom: fine!.knownFrom.map((known) => known + 10 * PER_CANDLE * MINUTE_MS) };
  const stretch = { from: 0, first: 4, until: 6 };
  const { inputs } = JSON.parse(writeRequest({ ...task, inputs: [late] }, stretch, null));
  expect([inputs.fine.newest, inputs.fine.candles.close]).toEqual([[-1, -1, -1, -1, -1, -1], []]);
});
