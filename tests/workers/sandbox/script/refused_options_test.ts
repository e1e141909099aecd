import { expect } from "@std/expect";
import { deciding, playScript } from "./scripts.ts";

const REFUSED = {
  "a size that is no number": 'orders.buy({ limitPrice: 5, candlesMax: 1, size: "x" })',
  "a size below 0": "orders.buy({ limitPrice: 5, size: -1 })",
  "a size of nothing": "orders.buy({ limitPrice: 5, size: 0 })",
  "an option that is not known": "orders.buy({ limitPrice: 5, price: 5 })",
  "a getter that throws": "orders.buy({ limitPrice: 5, get size() { throw 1 } })",
  "no object": "orders.sell(5)",
  "a tag that is no text": "orders.buy({ limitPrice: 5, tag: 5 })",
  "a fraction that is too large": "orders.close(2)",
  "a close's tag that is no text": "orders.close(1, 5)",
  "the tag of a trade's close": "orders.closeTrade(0, 1, 5)",
  "no number of a trade": "orders.protect(-1, { stopLoss: 1 })",
  "a stop that is no number": 'orders.protect(0, { takeProfit: 5, stopLoss: "x" })',
  "a side that is none": 'orders.replace(1, "up")',
};

for (const [what, line] of Object.entries(REFUSED)) {
  Deno.test(`an order that is refused by an error is not placed, even if the script catches it: ${what}`, async () => {
    const { result, log } = await playScript(
      deciding(`if (i > 0) return;
      orders.sell({ limitPrice: 50, size: 1 });
      try { ${line}; } catch { console.log("refused"); }
      console.log(orders.buy({ stopPrice: 90 }));`),
      [10, 10, 10],
    );
    const { count, limitPrice, stopPrice, side } = result.orders;
    expect({ log, count }).toEqual({ log: ["refused", "2"], count: 2 });
    // Nothing of it is left in the next order's row.
    expect([[...side], [...limitPrice], [...stopPrice]]).toEqual([[-1, 1], [50, NaN], [NaN, 90]]);
  });
}
