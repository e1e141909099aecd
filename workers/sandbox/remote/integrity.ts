import type { Finding, Integrity } from "../../../engine/result.ts";
import type { RemoteTask } from "../../common/remote_task.ts";
import { Random } from "../random.ts";
import { findTemptations, type PlacedOrders, takeInTurn } from "../temptations.ts";
import { type Decisions, planBatches } from "./batch.ts";
import { describeCandle, type RemoteClient } from "./client.ts";
import { IN_FLIGHT_MAX } from "./line.ts";
import { askAgain, type Difference, skipAfter, skipAll, skipWarmUp } from "./compare.ts";
import { writeRequest } from "./request.ts";
import type { Stretch } from "./stretch.ts";

// A look at random asks for the decisions before it too: one look then finds a strategy that looks a few candles ahead.
const TAIL_CANDLES = 16;
const LOOKS_MIN = 16;
const LOOKS_MAX = 40;
const RANDOM_LOOKS_MAX = 8;
const WARM_UP_LOOKS_MAX = 4;
// A difference may also come from too little history. So many differences are asked again with only the future withheld.
const CONFIRMATIONS_MAX = 4;
// The share of a run's candles that looks may send again. A run of this many batches repeats another whole batch.
const LOOKS_SHARE = 0.04;
const BATCHES_PER_REPEAT = 40;

/** Checks the integrity of an endpoint in batch mode: asks it again at candles that the seed and the result choose. */
export class BatchChecks {
  readonly #task: RemoteTask;
  readonly #client: RemoteClient;
  readonly #decisions: Decisions;
  readonly #result: PlacedOrders;
  readonly #batches: readonly Stretch[];
  readonly #random: Random;

  constructor(
    task: RemoteTask,
    client: RemoteClient,
    decisions: Decisions,
    result: PlacedOrders,
  ) {
    this.#task = task;
    this.#result = result;
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
    // A look withholds all later candles, and sends no more history than the strategy asks for.
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

  /** Repeats the first batch, and in a long run another one. */
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
        return { status: "skipped", evidence: `The endpoint failed on a repeated request: ${difference.failure}` };
      }
      if (difference !== null) {
        const evidence = `On an equal request, the endpoint decided differently for ${this.#name(difference.index)}.`;
        return { status: "failed", evidence };
      }
      candles += batch.until - batch.first;
    }
    return {
      status: "passed",
      evidence: `Equal requests about ${candles} candles: the decisions were the same.`,
    };
  }

  /** Stretches that end at chosen candles: at random, where cheating would have paid most, and one for each kind of action. */
  #chooseLooks(): readonly Stretch[] {
    const { first, digests, kinds } = this.#decisions;
    const { candles: { time, close }, lookbackCandles } = this.#task;
    const count = Math.min(
      LOOKS_MAX,
      Math.max(LOOKS_MIN, Math.floor(LOOKS_SHARE * digests.length / (lookbackCandles + TAIL_CANDLES))),
    );
    const random = Array.from({ length: RANDOM_LOOKS_MAX }, (_, look) => {
      const n = this.#random.below(digests.length);
      return first + (look % 2 === 0 ? nextActive(digests, n) : n);
    });
    const run = { result: this.#result, time, close };
    const { decisions, trades, idle } = findTemptations(run, { first, until: first + digests.length });
    const tails = new Set(random);
    return takeInTurn([decisions, random, trades, idle, [...kinds.values()]], count)
      .map((index) => this.#lookAt(index, tails.has(index) ? TAIL_CANDLES : 1));
  }

  /** Asks about a candle and those before it, `count` in all. */
  #lookAt(index: number, count: number): Stretch {
    const first = Math.max(this.#decisions.first, index - count + 1);
    return { from: Math.max(0, first - this.#task.lookbackCandles), first, until: index + 1 };
  }

  /**
   * Distinguishes looking ahead from a lookback that is too short (it sends the run's history and withholds only the future), and
   * from random answers that the first repetition did not show. Null: the endpoint does not look ahead.
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
      ? `decided differently for ${this.#name(ahead.index)}.`
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
        ? `With exactly the ${lookback} that it asks for, the endpoint decided differently for ${candle}.`
        : `With exactly the ${lookback} that it asks for, the endpoint failed for ${candle}: ${failure}`,
    };
  }

  async #checkWarmUp(looks: readonly Stretch[]): Promise<Finding> {
    const { lookbackCandles } = this.#task;
    const doubled = looks.filter(({ first }) => first >= 2 * lookbackCandles).slice(0, WARM_UP_LOOKS_MAX)
      .map((look) => ({ ...look, from: look.first - 2 * lookbackCandles }));
    const skipped = skipWarmUp(lookbackCandles, doubled.length);
    if (skipped !== null) return skipped;
    const [difference] = await this.#compareAll(doubled);
    if (difference === undefined) {
      const evidence = `Asked again at ${doubled.length} candles with twice the history: the decisions were the same.`;
      return { status: "passed", evidence };
    }
    const what = difference.failure === null ? "decided differently for" : "failed for";
    const evidence = `With twice the ${lookbackCandles} candles of history that it asks for, the endpoint ${what} ${
      this.#name(difference.index)
    }`;
    return {
      status: "failed",
      evidence: `${evidence}${difference.failure === null ? "." : `: ${difference.failure}`}`,
    };
  }

  /** The differences in the order of the stretches. Several requests are in flight at a time. */
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

  /** Asks for decisions again and compares them with the run's. */
  async #compare(stretch: Stretch): Promise<Difference | null> {
    const { first, digests } = this.#decisions;
    const before = digests.subarray(stretch.first - first, stretch.until - first);
    return await askAgain(this.#client, stretch, writeRequest(this.#task, stretch, null), before);
  }

  #name(index: number): string {
    return describeCandle(this.#task, index);
  }
}

/** The first place from `n` on with actions, or `n` where none follow. */
function nextActive(digests: Float64Array, n: number): number {
  for (let active = n; active < digests.length; active++) {
    if (digests[active] !== 0) return active;
  }
  return n;
}
