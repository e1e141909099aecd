import type { Finding, Integrity } from "../../../engine/result.ts";
import type { RemoteTask } from "../../protocol.ts";
import { Random } from "../random.ts";
import { type Decisions, planBatches } from "./batch.ts";
import { describeCandle, IN_FLIGHT_MAX, type RemoteClient } from "./client.ts";
import { askAgain, type Difference, skipAfter, skipAll } from "./compare.ts";
import { type Stretch, writeRequest } from "./request.ts";

// A look at one candle asks for its last few decisions, too: whoever looks a few candles ahead is found at any of them.
const TAIL_CANDLES = 16;
const LOOKS_MIN = 8;
const LOOKS_MAX = 24;
const WARM_UP_LOOKS_MAX = 4;
// What looks like a look ahead may be a want of history; of the places that differ, so many are asked about the future alone.
const CONFIRMATIONS_MAX = 4;
// Of the candles of a run, as many may be sent again to look at single ones; a run of this many batches affords a whole one.
const LOOKS_SHARE = 0.04;
const BATCHES_PER_REPEAT = 40;

/** What is found out about an endpoint in batch mode by asking it again, at candles that the seed chooses. */
export class BatchChecks {
  readonly #task: RemoteTask;
  readonly #client: RemoteClient;
  readonly #decisions: Decisions;
  readonly #batches: readonly Stretch[];
  readonly #random: Random;

  constructor(task: RemoteTask, client: RemoteClient, decisions: Decisions) {
    this.#task = task;
    this.#client = client;
    this.#decisions = decisions;
    this.#batches = planBatches(task);
    this.#random = new Random(task.seed);
  }

  async run(): Promise<Omit<Integrity, "orders">> {
    if (this.#batches.length === 0) return skipAll("There was no candle to decide on.");
    const determinism = await this.#checkDeterminism();
    if (determinism.status !== "passed") {
      const untested = skipAfter(determinism);
      return { determinism, lookahead: untested, warm_up: untested };
    }
    const looks = this.#chooseLooks();
    // No candle after the look's, and no more history than the strategy asks for.
    const differences = await this.#compareAll(looks);
    for (const difference of differences.slice(0, CONFIRMATIONS_MAX)) {
      const ahead = await this.#confirmLookahead(difference);
      if (ahead !== null) return ahead;
    }
    const lookahead: Finding = {
      status: "passed",
      evidence: `Asked again at ${looks.length} candles with all later candles withheld: the decisions were the same.`,
    };
    return {
      determinism,
      lookahead,
      warm_up: differences[0] === undefined ? await this.#checkWarmUp(looks) : this.#tooShort(differences[0]),
    };
  }

  /** The first batch once more, and in a long run another one. */
  async #checkDeterminism(): Promise<Finding> {
    const again = [this.#batches[0]!];
    const count = this.#batches.length;
    if (count >= BATCHES_PER_REPEAT) again.push(this.#batches[1 + this.#random.below(count - 1)]!);
    return await this.#repeat(again);
  }

  async #repeat(batches: readonly Stretch[]): Promise<Finding> {
    let candles = 0;
    for (const batch of batches) {
      const difference = await this.#compare(batch);
      if (difference?.failure) {
        return { status: "skipped", evidence: `The endpoint failed when it was asked again: ${difference.failure}` };
      }
      if (difference !== null) {
        const evidence = `Asked the same again, the endpoint decided differently on ${this.#name(difference.index)}.`;
        return { status: "failed", evidence };
      }
      candles += batch.until - batch.first;
    }
    return {
      status: "passed",
      evidence: `Asked the same again about ${candles} candles: the decisions were the same.`,
    };
  }

  /** Stretches that end at chosen candles, half of them where something was decided: there an early look would show. */
  #chooseLooks(): readonly Stretch[] {
    const { first, actions } = this.#decisions;
    const cost = this.#task.lookbackCandles + TAIL_CANDLES;
    const count = Math.min(LOOKS_MAX, Math.max(LOOKS_MIN, Math.floor(LOOKS_SHARE * actions.length / cost)));
    const active = actions.flatMap((list, n) => list.length > 0 ? [n] : []);
    const chosen = new Set<number>();
    for (let look = 0; look < count; look++) {
      const fromActive = look % 2 === 0 && active.length > 0;
      chosen.add(fromActive ? active[this.#random.below(active.length)]! : this.#random.below(actions.length));
    }
    return [...chosen].map((n) => this.#tailOf(first + n));
  }

  #tailOf(index: number): Stretch {
    const first = Math.max(this.#decisions.first, index - TAIL_CANDLES + 1);
    return { from: Math.max(0, first - this.#task.lookbackCandles), first, until: index + 1 };
  }

  /**
   * Tells a look ahead from too short a lookback (the same history as in the run, and only the future withheld), and from
   * moods that the first repetition did not show. Null: the endpoint does not look ahead.
   */
  async #confirmLookahead(short: Difference): Promise<Omit<Integrity, "orders"> | null> {
    const batch = this.#batches.find(({ first, until }) => first <= short.index && short.index < until)!;
    const until = short.until < batch.until ? short.until : short.index + 1;
    const ahead = await this.#compare({ ...batch, until });
    if (ahead === null) return null;
    const determinism = await this.#repeat([batch]);
    if (determinism.status !== "passed") {
      const untested = skipAfter(determinism);
      return { determinism, lookahead: untested, warm_up: untested };
    }
    const what = ahead.failure === null
      ? `decided differently on ${this.#name(ahead.index)}.`
      : `failed: ${ahead.failure}`;
    const evidence = `With all candles after ${this.#name(until - 1)} withheld, the endpoint ${what}`;
    return {
      determinism,
      lookahead: { status: "failed", evidence },
      warm_up: { status: "skipped", evidence: "Not tested: the endpoint looks ahead." },
    };
  }

  #tooShort({ index, failure }: Difference): Finding {
    const lookback = `${this.#task.lookbackCandles} candles of history`;
    const candle = this.#name(index);
    return {
      status: "failed",
      evidence: failure === null
        ? `With exactly the ${lookback} that it asks for, the endpoint decided differently on ${candle}.`
        : `With exactly the ${lookback} that it asks for, the endpoint failed on ${candle}: ${failure}`,
    };
  }

  async #checkWarmUp(looks: readonly Stretch[]): Promise<Finding> {
    const { lookbackCandles } = this.#task;
    if (lookbackCandles === 0) return { status: "skipped", evidence: "The strategy asks for no candles of history." };
    const doubled = looks.filter(({ first }) => first >= 2 * lookbackCandles).slice(0, WARM_UP_LOOKS_MAX)
      .map((look) => ({ ...look, from: look.first - 2 * lookbackCandles }));
    if (doubled.length === 0) {
      return { status: "skipped", evidence: `Nowhere are there ${2 * lookbackCandles} candles of history.` };
    }
    const [difference] = await this.#compareAll(doubled);
    if (difference === undefined) {
      const evidence = `Asked again at ${doubled.length} candles with twice the history: the decisions were the same.`;
      return { status: "passed", evidence };
    }
    const what = difference.failure === null ? "decided differently on" : "failed on";
    const evidence = `With twice the ${lookbackCandles} candles of history that it asks for, the endpoint ${what} ${
      this.#name(difference.index)
    }`;
    return {
      status: "failed",
      evidence: `${evidence}${difference.failure === null ? "." : `: ${difference.failure}`}`,
    };
  }

  /** The differences in the order of the stretches, several of which are asked at a time. */
  async #compareAll(stretches: readonly Stretch[]): Promise<readonly Difference[]> {
    const differences: Difference[] = [];
    for (let n = 0; n < stretches.length; n += IN_FLIGHT_MAX) {
      const compared = await Promise.all(
        stretches.slice(n, n + IN_FLIGHT_MAX).map((stretch) => this.#compare(stretch)),
      );
      differences.push(...compared.filter((difference) => difference !== null));
    }
    return differences;
  }

  /** Asks for decisions again; only the run's own ones are compared with. */
  async #compare(stretch: Stretch): Promise<Difference | null> {
    const { first, actions } = this.#decisions;
    const before = actions.slice(stretch.first - first, stretch.until - first);
    return await askAgain(this.#client, stretch, writeRequest(this.#task, stretch, null), before);
  }

  #name(index: number): string {
    return describeCandle(this.#task, index);
  }
}
