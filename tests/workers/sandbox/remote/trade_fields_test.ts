/** The trades and the fills that an endpoint is shown in step mode, beside what a person reckons. */
import { expect } from "@std/expect";
import { dailyCandles } from "../sandbox_tasks.ts";
import { runRemote } from "../../../../workers/sandbox/remote/run.ts";
import { remoteTask, type Request, serveJson } from "./endpoints.ts";

const ENTERED = Date.UTC(2024, 0, 2);
const ENTRY = { entry_index: 1, entry_time: ENTERED, entry_price: 100, tag: "first" };

Deno.test("an endpoint is shown what is known of its trades, and its fills once", async () => {
  await using endpoint = serveJson((request: Request) => {
    const guards = { stop_loss: 97, take_profit: 120 };
    const actions: Record<number, unknown[]> = {
      0: [{ side: "buy", size: 1, id: "in", tag: "first", ...guards }],
      3: [{ action: "protect", stop_loss: 99 }],
      4: [{ action: "protect", take_profit: null }],
    };
    return { version: 1, decisions: [actions[request.first_asked] ?? []] };
  });
  const candles = dailyCandles([100, 102, 104, 101, 103, 95, 96]);
  await runRemote(await remoteTask(endpoint.url, { mode: "step", candles }), () => {});
  const steps = endpoint.requests.slice(0, 7);
  const open = (profit: number, best_price: number, stop_loss: number) => {
    const guards = { stop_loss, take_profit: 120, trailing_stop: null };
    return { trade: 0, quantity: 1, order: "in", ...ENTRY, ...guards, profit, best_price, worst_price: 99.5 };
  };
  expect(steps.map(({ open_trades }) => open_trades)).toEqual([
    [],
    [open(2, 102.5, 97)],
    [open(4, 104.5, 97)],
    [open(1, 104.5, 97)],
    [open(3, 104.5, 99)],
    [],
    [],
  ]);
  const fill = { trade: 0, quantity: 1, fee: 0, tag: "first" };
  const bought = { ...fill, order: "in", side: "buy", price: 100, index: 1, time: ENTERED };
  const { tag: _, ...entry } = ENTRY;
  const closed = { order: "in", ...entry, profit: -1, fees: 0, best_price: 104.5, worst_price: 99 };
  const sold = { ...fill, order: null, side: "sell", price: 99, index: 5, time: Date.UTC(2024, 0, 6) };
  expect(steps.map(({ fills }) => fills)).toEqual([
    [],
    [{ ...bought, exit_reason: null, closed: null }],
    ...[[], [], []],
    [{ ...sold, exit_reason: "stop_loss", closed }],
    [],
  ]);
});
