/** The functions that our lines in Python give the host, and how they are called. */
import { brokenRealm } from "../script/realm_answers.ts";
import { RunError } from "../../common/outcome.ts";
import { ClosedDoorError, type Interpreter } from "./interpreter.ts";

/** Places in MACHINE (inside/machine.py). */
export const MACHINE = {
  compileText: 0,
  start: 1,
  warmup: 2,
  prepare: 3,
  requests: 4,
  shown: 5,
  decider: 6,
  checkAnswer: 7,
  describe: 8,
  line: 9,
  plots: 10,
  plot: 11,
  schema: 12,
  takeAccount: 13,
  views: 14,
  tables: 15,
  equity: 16,
  candle: 17,
  another: 18,
  takeFills: 19,
  reportFills: 20,
  isPortfolio: 21,
  startPortfolio: 22,
  every: 23,
  state: 24,
  preparePortfolio: 25,
  marketRequests: 26,
  marketShown: 27,
  marketViews: 28,
  book: 29,
  tagOfTargets: 30,
  decidePortfolio: 31,
  hasScore: 32,
  score: 33,
  peeks: 34,
} as const;

/** Of a text. Requests and errors are shorter. */
export const ANSWER_BYTES_MAX = 2 ** 20;

/** One machine of an interpreter, which has one for each market of a run. */
export class Machine {
  readonly python: Interpreter;
  readonly none: number;
  /** True: the interpreter has ended, or was left in the middle of a call, so its memory is not consistent any more. */
  isBroken = false;
  readonly #address: number;

  constructor(python: Interpreter, address: number) {
    this.python = python;
    this.#address = address;
    this.none = python.none();
  }

  /** The address of a function, a list or a buffer. */
  place(place: number): number {
    return this.python.item(this.#address, place);
  }

  /** The text that a function answers; null: None. The arguments are given up. */
  ask(place: number, ...args: readonly number[]): string | null {
    const { python } = this;
    const answer = this.make(place, ...args);
    if (answer === 0) return this.takeError();
    if (answer === this.none) return null;
    const text = python.readText(answer, ANSWER_BYTES_MAX);
    python.release(answer);
    if (text === null) throw brokenRealm("its answers are none");
    return text;
  }

  /** The object that a function makes; 0 after an error. The arguments are given up. */
  make(place: number, ...args: readonly number[]): number {
    const made = this.within(() => this.python.call(this.place(place), ...args));
    for (const argument of args) this.python.release(argument);
    return made;
  }

  /** The description of the error that a call ended with. */
  takeError(): string {
    const { python } = this;
    const error = python.takeError();
    const described = error === 0 ? 0 : this.within(() => python.call(this.place(MACHINE.describe), error));
    // It has no memory left to describe it in.
    return (described === 0 ? null : python.readText(described, ANSWER_BYTES_MAX)) ?? '{"message":"MemoryError"}';
  }

  within(call: () => number): number {
    if (this.isBroken) throw brokenRealm("it cannot go on");
    try {
      return call();
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** Explains an error that ended a call from outside of Python. */
  explain(error: unknown): unknown {
    if (error instanceof RunError) return error;
    this.isBroken = true;
    if (error instanceof ClosedDoorError) {
      return new RunError("STRATEGY_FAILED", `Cannot go on: the script has left its interpreter: ${error.message}`);
    }
    if (!(error instanceof WebAssembly.RuntimeError)) return error;
    return new RunError("STRATEGY_FAILED", `Cannot go on: the script has broken its interpreter: ${error.message}`);
  }
}
