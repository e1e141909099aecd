import type { Mutation } from "./mutations_list.ts";

/** Mutations of an account over many markets. */
export const MUTATIONS_OF_PORTFOLIOS: readonly Mutation[] = [
  {
    rule: "inside a candle the rate is the one at its open",
    file: "engine/portfolio/positions.ts",
    text: "seat.openClosingIn(row) ?? instant - 1",
    replacement: "instant",
  },
  {
    rule: "a market without a candle has the rate before the row's instant",
    file: "engine/portfolio/positions.ts",
    text: "seat.openClosingIn(row) ?? instant - 1",
    replacement: "seat.openClosingIn(row) ?? seat.openOf(seat.opened)",
  },
  {
    rule: "a market that sleeps has the rate at the open of its candle",
    file: "engine/portfolio/seat.ts",
    text: "i <= Math.min(last, opened + 1)",
    replacement: "i <= Math.min(last, opened)",
  },
  {
    rule: "rates may call an account whose prices stand still",
    file: "engine/portfolio/positions.ts",
    text: "    if (this.#hasCurrencies) return true;\n",
    replacement: "",
  },
  {
    rule: "margin counts all positions at their worst prices",
    file: "engine/portfolio/positions.ts",
    text: "for (const seat of closing) seat.isAtWorst = true;",
    replacement: "",
  },
];
