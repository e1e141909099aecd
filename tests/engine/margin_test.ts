import { expect } from "@std/expect";
import { BY_UNITS, LIMIT, type OrderDraft, STOP } from "../../engine/strategy.ts";
import { flat, order, type Row, runOver, script, tell } from "./market.ts";

const buy = (size: number) => script({ 0: (book) => book.place(order({ sizeBy: BY_UNITS, size })) });
const sell = (size: number) => script({ 0: (book) => book.place(order({ side: -1, sizeBy: BY_UNITS, size })) });

Deno.test("a long that is not borrowed for is never called, however far it falls", () => {
  const result = runOver([...flat(100, 100), [100, 100, 1, 2]], buy(10));
  expect(tell(result)).toMatchObject([{ exit: null }]);
  expect(result.metrics.final_equity).toBe(20);
});

Deno.test("a leveraged long is liquidated at the low once equity is below half of its initial margin", () => {
  // 50 units at 100 with 1000: cash -4000. At 89 equity is 450, and half the margin 0.5 x 50 x 89 / 5 = 445: it holds.
  // At 88 equity is 400, and 440 are needed: everything is sold there.
  const holds = runOver([...flat(100, 100), [100, 100, 89, 95]], buy(50), { leverage: 5 });
  expect(tell(holds)).toMatchObject([{ exit: null }]);
  const called = runOver([...flat(100, 100), [100, 100, 88, 95], ...flat(95)], buy(50), { leverage: 5 });
  expect(tell(called)).toMatchObject([{ exit: [2, 88], reason: "margin_call", pnl: -600 }]);
  expect([...called.equity]).toEqual([1000, 1000, 400, 400]);
});

Deno.test("a price calls in the candle of the entry, too, where it certainly came after it", () => {
  const enter = (fields: Partial<OrderDraft>, candle: Row) => {
    const draft = order({ sizeBy: BY_UNITS, size: 50, ...fields });
    return tell(runOver([...flat(100), candle], script({ 0: (book) => book.place(draft) }), { leverage: 5 }));
  };
  // In at the open: at 88 there are 400, and 440 are needed.
  expect(enter({}, [100, 100, 88, 95])).toMatchObject([{ entry: [1, 100], exit: [1, 88], reason: "margin_call" }]);
  // In at 98 on the way down: at 86 there are 400, and 430 are needed.
  const limit = { type: LIMIT, limitPrice: 98 };
  expect(enter(limit, [100, 100, 86, 95])).toMatchObject([{ entry: [1, 98], exit: [1, 86], reason: "margin_call" }]);
  // In at 102 on the way up: the low may have been before.
  const stop = { type: STOP, stopPrice: 102, size: 49 };
  expect(enter(stop, [100, 103, 86, 95])).toMatchObject([{ entry: [1, 102], exit: null }]);
});

Deno.test("a short is called at the high, at leverage 1 too", () => {
  // 10 sold at 100 with 1000: cash 2000. At 133 equity is 670, half the margin 665. At 134: 660 against 670.
  expect(tell(runOver([...flat(100, 100), [100, 133, 100, 100]], sell(10)))).toMatchObject([{ exit: null }]);
  expect(tell(runOver([...flat(100, 100), [100, 134, 100, 100]], sell(10)))).toMatchObject([
    { exit: [2, 134], reason: "margin_call" },
  ]);
});

Deno.test("a stop loss comes before the margin call, since its price does", () => {
  const guarded = script({ 0: (book) => book.place(order({ sizeBy: BY_UNITS, size: 50, stopLoss: 95 })) });
  const result = runOver([...flat(100, 100), [100, 100, 80, 95]], guarded, { leverage: 5 });
  expect(tell(result)).toMatchObject([{ exit: [2, 95], reason: "stop_loss" }]);
});

Deno.test("maintenanceMargin moves the call, and marginCall false takes it away", () => {
  const rows: Row[] = [...flat(100, 100), [100, 100, 88, 95], ...flat(95)];
  expect(tell(runOver(rows, buy(50), { leverage: 5, maintenanceMargin: 0.4 }))).toMatchObject([{ exit: null }]);
  expect(tell(runOver(rows, buy(50), { leverage: 5, marginCall: false }))).toMatchObject([{ exit: null }]);
});

Deno.test("equity that comes to nothing ends the run at 0, and the account loses no more than it had", () => {
  const decisions = script({
    0: (book) => book.place(order({ sizeBy: BY_UNITS, size: 50 })),
    3: (book) => book.place(order({ sizeBy: BY_UNITS, size: 1 })),
  });
  const result = runOver(flat(100, 100, 70, 100, 100), decisions, { leverage: 5, marginCall: false });
  // 50 x -30 would be -1500: the broker bears 500.
  expect([...result.equity]).toEqual([1000, 1000, 0, 0, 0]);
  expect(tell(result)).toMatchObject([{ exit: [2, 70], reason: "margin_call", pnl: -1000 }]);
  expect([...result.position]).toEqual([0, 50, 0, 0, 0]);
});
