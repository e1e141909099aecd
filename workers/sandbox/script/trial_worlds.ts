import type { CompiledScript } from "./realm_guest.ts";

/** A trial that takes longer is not run twice: its realm would be a small part of it. */
const TWICE_MS_MAX = 1000;

/**
 * The worlds of a script's trials, or of its paths. The first that completes runs in a world of its own and once more in the one that
 * lasts; where both end alike, the others follow there, each in what those before have left as it was.
 */
export class TrialWorlds {
  readonly #script: CompiledScript;
  #state: "alone" | "lasting" | "refused" = "alone";

  constructor(script: CompiledScript) {
    this.#script = script;
  }

  /** The script, as the next run is to open it. */
  get script(): CompiledScript {
    const { openAgain } = this.#script;
    return this.#state === "lasting" && openAgain !== undefined ? { ...this.#script, open: openAgain } : this.#script;
  }

  /** Runs a trial, which takes `script` to make its guest. */
  attempt<Result>(trial: () => Result): Result {
    const run = () => this.#script.reads.run(trial);
    const begun = performance.now();
    const result = run();
    // Both have the time of one.
    if (performance.now() - begun > TWICE_MS_MAX) return result;
    if (this.#state !== "alone" || this.#script.openAgain === undefined || !isCompleted(result)) return result;
    this.#state = "lasting";
    if (!isSame(result, run())) this.#state = "refused";
    return result;
  }
}

function isCompleted(result: unknown): boolean {
  return typeof result === "object" && result !== null && "type" in result && result.type === "completed";
}

/** Compares results to the last bit, but for the sign of a zero. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
