import { ORDER_REASONS, REJECTED } from "../../engine/orders.ts";
import type { RunResult } from "../../engine/run.ts";
import type { Finding, Integrity, RemoteTask } from "../protocol.ts";
import type { Action } from "./remote_answer.ts";
import { type Decisions, planBatches } from "./remote_batch.ts";
import { describeCandle, IN_FLIGHT_MAX, type RemoteClient, RemoteFailure } from "./remote_client.ts";
import { Random } from "./remote_random.ts";
import { type Stretch, writeRequest } from "./remote_request.ts";
import type { Step } from "./remote_step.ts";

// A look at one candle asks for its last few decisions, too: whoever looks a few candles ahead is found at any of them.
const TAIL_CANDLES = 16;
const LOOKS_MIN = 4;
const LOOKS_MAX = 16;
const WARM_UP_LOOKS_MAX = 4;
// Of the candles of a run, as many may be sent again to look at single ones; a run of this many batches affords a whole one.
const LOOKS_SHARE = 0.04;
const BATCHES_PER_REPEAT = 40;

type Asked = readonly (readonly Action[])[];

/** The first candle on which two answers differ, or the failure that stood in an answer's place; none: null. */
type Difference = {
  readonly index: number;
  /** Where the second question ended. */
  readonly until: number;
  readonly failure: string | null;
} | null;

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
    const short = await this.#compareAll(looks);
    if (short !== null) {
      const ahead = await this.#confirmLookahead(short);
      if (ahead !== null) {
        const evidence = "Not tested: the endpoint looks ahead.";
        return { determinism, lookahead: ahead, warm_up: { status: "skipped", evidence } };
      }
    }
    const lookahead: Finding = {
      status: "passed",
      evidence: `Asked again at ${looks.length} candles with all later candles withheld: the decisions were the same.`,
    };
    return { determinism, lookahead, warm_up: short === null ? await this.#checkWarmUp(looks) : this.#tooShort(short) };
  }

  /** The first batch once more, and in a long run another one. */
  async #checkDeterminism(): Promise<Finding> {
    const again = [this.#batches[0]!];
    const count = this.#batches.length;
    if (count >= BATCHES_PER_REPEAT) again.push(this.#batches[1 + this.#random.below(count - 1)]!);
    let candles = 0;
    for (const batch of again) {
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

  /** Tells a look ahead from too short a lookback: the same history as in the run, and only the future withheld. */
  async #confirmLookahead(short: NonNullable<Difference>): Promise<Finding | null> {
    const batch = this.#batches.find(({ first, until }) => first <= short.index && short.index < until)!;
    const until = short.until < batch.until ? short.until : short.index + 1;
    const difference = await this.#compare({ ...batch, until });
    if (difference === null) return null;
    const withheld = `With all candles after ${this.#name(until - 1)} withheld, the endpoint`;
    if (difference.failure === null) {
      return { status: "failed", evidence: `${withheld} decided differently on ${this.#name(difference.index)}.` };
    }
    const stillAnswers = await this.#compare(batch) === null;
    const evidence = `${withheld} failed: ${difference.failure}`;
    return { status: stillAnswers ? "failed" : "skipped", evidence };
  }

  #tooShort({ index, failure }: NonNullable<Difference>): Finding {
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
    const difference = await this.#compareAll(doubled);
    if (difference === null) {
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

  /** The first difference in the order of the stretches, several of which are asked at a time. */
  async #compareAll(stretches: readonly Stretch[]): Promise<Difference> {
    for (let n = 0; n < stretches.length; n += IN_FLIGHT_MAX) {
      const compared = await Promise.all(
        stretches.slice(n, n + IN_FLIGHT_MAX).map((stretch) => this.#compare(stretch)),
      );
      const found = compared.find((difference) => difference !== null);
      if (found !== undefined) return found;
    }
    return null;
  }

  /** Asks for decisions again; only the run's own ones are compared with. */
  async #compare(stretch: Stretch): Promise<Difference> {
    const { first, actions } = this.#decisions;
    const before = actions.slice(stretch.first - first, stretch.until - first);
    return await askAgain(this.#client, stretch, writeRequest(this.#task, stretch, null), before);
  }

  #name(index: number): string {
    return describeCandle(this.#task, index);
  }
}

/** What is found out about an endpoint in step mode by asking some of its questions again. */
export async function checkSteps(
  task: RemoteTask,
  client: RemoteClient,
  kept: readonly Step[],
): Promise<Omit<Integrity, "orders">> {
  if (kept.length === 0) return skipAll("There was no candle to decide on.");
  const lookahead: Finding = {
    status: "passed",
    evidence: "In step mode the endpoint is never given a candle later than the one to decide on.",
  };
  const again = await findDifference(kept, (step) => askAgain(client, step.stretch, step.request, [step.actions]));
  const determinism = describeSteps(task, again, kept.length, "the same");
  if (determinism.status !== "passed") {
    return { lookahead, determinism, warm_up: skipAfter(determinism) };
  }
  return { lookahead, determinism, warm_up: await checkStepsWarmUp(task, client, kept) };
}

async function checkStepsWarmUp(task: RemoteTask, client: RemoteClient, kept: readonly Step[]): Promise<Finding> {
  const { lookbackCandles } = task;
  if (lookbackCandles === 0) return { status: "skipped", evidence: "The strategy asks for no candles of history." };
  const steps = kept.filter(({ stretch }) => stretch.first >= 2 * lookbackCandles);
  if (steps.length === 0) {
    return { status: "skipped", evidence: `Nowhere are there ${2 * lookbackCandles} candles of history.` };
  }
  const difference = await findDifference(steps, (step) => {
    const stretch = { ...step.stretch, from: step.stretch.first - 2 * lookbackCandles };
    const { candles }: { candles: unknown } = JSON.parse(writeRequest(task, stretch, null));
    return askAgain(client, stretch, JSON.stringify({ ...JSON.parse(step.request), candles }), [step.actions]);
  });
  return describeSteps(task, difference, steps.length, `with twice the ${lookbackCandles} candles of history`);
}

function describeSteps(task: RemoteTask, difference: Difference, count: number, how: string): Finding {
  if (difference === null) {
    return { status: "passed", evidence: `Asked again at ${count} candles ${how}: the decisions were the same.` };
  }
  const candle = describeCandle(task, difference.index);
  if (difference.failure !== null) {
    return {
      status: "skipped",
      evidence: `The endpoint failed when it was asked again about ${candle}: ${difference.failure}`,
    };
  }
  return { status: "failed", evidence: `Asked again ${how}, the endpoint decided differently on ${candle}.` };
}

async function findDifference(steps: readonly Step[], ask: (step: Step) => Promise<Difference>): Promise<Difference> {
  for (const step of steps) {
    const difference = await ask(step);
    if (difference !== null) return difference;
  }
  return null;
}

async function askAgain(client: RemoteClient, stretch: Stretch, request: string, before: Asked): Promise<Difference> {
  try {
    const answer = await client.askWith(stretch, request);
    // Actions are read field by field in a fixed order, so equal ones are written alike; NaN becomes null in both.
    const n = answer.findIndex((actions, n) => JSON.stringify(actions) !== JSON.stringify(before[n]));
    return n < 0 ? null : { index: stretch.first + n, until: stretch.until, failure: null };
  } catch (error) {
    if (!(error instanceof RemoteFailure)) throw error;
    return { index: stretch.until - 1, until: stretch.until, failure: error.message };
  }
}

/** Whether the simulator refused orders, and which was the first. */
export function checkOrders({ orders }: RunResult): Finding {
  let refused = 0;
  let first = "";
  for (let row = 0; row < orders.count; row++) {
    if (orders.status[row] !== REJECTED) continue;
    const when = new Date(orders.time[row]!).toISOString();
    if (refused++ === 0) first = ` The first, at the candle of ${when}: ${ORDER_REASONS[orders.reason[row]!]!}.`;
  }
  const evidence = `${refused} of ${orders.count} orders were refused by the simulator.${first}`;
  return { status: refused === 0 ? "passed" : "failed", evidence };
}

function skipAfter({ status }: Finding): Finding {
  const reason = status === "failed"
    ? "an endpoint that decides differently when it is asked again shows differences anyway"
    : "the endpoint failed when it was asked again";
  return { status: "skipped", evidence: `Not tested: ${reason}.` };
}

function skipAll(evidence: string): Omit<Integrity, "orders"> {
  const finding: Finding = { status: "skipped", evidence };
  return { lookahead: finding, determinism: finding, warm_up: finding };
}
