import type { Mutation } from "./mutations_list.ts";

/** Which orders exclude each other, the end of a run, its books, profiles and metrics. */
export const MUTATIONS_OF_BOOKS: readonly Mutation[] = [
  {
    rule: "exclusive opposite closes the other side first",
    file: "engine/entries.ts",
    text: 'if (sim.execution.exclusive === "opposite" &&',
    replacement: 'if (sim.execution.exclusive === "off" &&',
  },
  {
    rule: "exclusive any closes whatever is open",
    file: "engine/book.ts",
    text: "if (ledger.quantity !== 0) this.close(1, null);",
    replacement: "",
  },
  {
    rule: "exclusive any replaces older entries",
    file: "engine/book.ts",
    text: "      this.#cancelEach(SUPERSEDED);\n",
    replacement: "",
  },
  {
    rule: "a cancelled order is gone",
    file: "engine/book.ts",
    text: "    this.end(order, CANCELLED, WITHDRAWN);\n    return true;",
    replacement: "    return true;",
  },
  {
    rule: "only a working order is replaced",
    file: "engine/book.ts",
    text: "return this.cancel(order) ? this.place(draft) : REFUSED;",
    replacement: "return this.cancel(order) || order >= 0 ? this.place(draft) : REFUSED;",
  },
  {
    rule: "last_open closes at the last open",
    file: "engine/simulation.ts",
    text: "this.fill.at(last, AT_OPEN, candles.open[last]!, true);",
    replacement: "this.fill.at(last, AT_OPEN, candles.close[last]!, true);",
  },
  {
    rule: "what was opened after the last open is not closed at it",
    file: "engine/simulation.ts",
    text: '=== "last_open" && sawOpen)',
    replacement: '=== "last_open")',
  },
  {
    rule: "cash pays for what is bought",
    file: "engine/ledger.ts",
    text: "this.cash -= side * units * price + fee;",
    replacement: "this.cash -= side * units * price - fee;",
  },
  {
    rule: "equity is marked at the close",
    file: "engine/simulation.ts",
    text: "const equity = ledger.cash + ledger.quantity * this.candles.close[i]!;",
    replacement: "const equity = ledger.cash + ledger.quantity * this.candles.open[i]!;",
  },
  {
    rule: "a partial exit takes its share of the entry fee",
    file: "engine/trade_log.ts",
    text: "const fees = trade.fees * share + fill.fee;",
    replacement: "const fees = trade.fees + fill.fee;",
  },
  {
    rule: "financing belongs to the trade's pnl",
    file: "engine/trade_log.ts",
    text: " - fees + trade.financing * share;",
    replacement: " - fees;",
  },
  {
    rule: "an excursion before the entry does not count",
    file: "engine/excursions.ts",
    text: "const from = wholeEntry ? entryIndex : entryIndex + 1;",
    replacement: "const from = entryIndex;",
  },
  {
    rule: "what rounding leaves of a trade is nothing",
    file: "engine/rules/lots.ts",
    text: "taken >= quantity * (1 - ROUNDING) ? 0",
    replacement: "taken >= quantity ? 0",
  },
  {
    rule: "flat is exactly flat",
    file: "engine/exits.ts",
    text: "if (left < Infinity) left = lots.minus(left, fill.units);",
    replacement: "left = left - fill.units;",
  },
  {
    rule: "the same inputs give the same bytes",
    file: "engine/ledger.ts",
    text: "this.tradedValue += value;",
    replacement: "this.tradedValue += value * (1 + Math.random() * 1e-9);",
  },
  {
    rule: "bounds are the ends under both rules",
    file: "engine/run.ts",
    text: 'boundOf("stop_first"), target_first: boundOf("target_first")',
    replacement: 'boundOf("target_first"), target_first: boundOf("stop_first")',
  },
  {
    rule: "rejected orders are counted",
    file: "engine/order_log.ts",
    text: "if (status === REJECTED) this.rejected++;",
    replacement: "",
  },
  {
    rule: "the profile of the library trades whole units",
    file: "engine/execution.ts",
    text: 'profile: "backtesting.py",\n    quantityStep: 1,',
    replacement: 'profile: "backtesting.py",\n    quantityStep: 0.5,',
  },
  {
    rule: "a week of weekly candles is one return",
    file: "engine/execution.ts",
    text: "timeframeMs > DAY_MS ? WEEKS_PER_YEAR : ",
    replacement: "",
  },
  { rule: "a stock's year has 252 days", file: "engine/execution.ts", text: "stock: 252", replacement: "stock: 365" },
  {
    rule: "the initial equity is the first peak",
    file: "engine/metrics/drawdown.ts",
    text: "let peak = input.initialBalance;",
    replacement: "let peak = 0;",
  },
  {
    rule: "deviations divide by n - 1",
    file: "engine/metrics/moments.ts",
    text: "Math.sqrt(centralSum(values, 2) / (values.length - 1))",
    replacement: "Math.sqrt(centralSum(values, 2) / values.length)",
  },
  {
    rule: "a win is a pnl above zero",
    file: "engine/metrics/trade_metrics.ts",
    text: "if (values[i]! * sign > 0) selected",
    replacement: "if (values[i]! * sign >= 0) selected",
  },
  {
    rule: "the first day's return counts from the initial balance",
    file: "engine/metrics/daily.ts",
    text: "let equityBefore = input.initialBalance;",
    replacement: "let equityBefore = input.equity[0]!;",
  },
];
