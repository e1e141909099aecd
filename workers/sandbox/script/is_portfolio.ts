import { whilePreparing } from "../decision_calls.ts";
import { ask } from "./realm_answers.ts";
import type { CompiledScript } from "./realm_guest.ts";

/** True where a script may call `portfolio`: its text has the word. */
export function namesPortfolio(source: string): boolean {
  return /\bportfolio\b/i.test(source);
}

/** True if a script calls `portfolio`, or is a Python class of that base. */
export function isPortfolio(source: string, { open }: CompiledScript): boolean {
  if (!namesPortfolio(source)) return false;
  const { door, run } = open(0);
  const { portfolio } = door;
  // An error of these lines shows again when they run for a strategy.
  whilePreparing(() => ask(run));
  return portfolio !== undefined && whilePreparing(() => ask(portfolio.isCalled)) === true;
}
