import { ask } from "./realm_answers.ts";
import type { CompiledScript } from "./realm_guest.ts";

/** True if a script calls `portfolio`, or is a Python class of that base. Without the word in its text, it does not. */
export function isPortfolio(source: string, { open }: CompiledScript): boolean {
  if (!/\bportfolio\b/i.test(source)) return false;
  const { door, run } = open(0);
  // An error of these lines shows again when they run for a strategy.
  ask(run);
  return door.portfolio !== undefined && ask(door.portfolio.isCalled) === true;
}
