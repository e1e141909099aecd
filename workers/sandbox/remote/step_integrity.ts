import type { Finding, Integrity } from "../../../engine/result.ts";
import type { RemoteTask } from "../../common/remote_task.ts";
import { describeCandle, type RemoteClient } from "./client.ts";
import { askAgain, type Difference, digestOf, skipAfter, skipAll, skipWarmUp } from "./compare.ts";
import { writeRequest } from "./request.ts";
import type { Step } from "./step.ts";

/** Checks the integrity of an endpoint in step mode: sends some of its requests again. */
export async function checkSteps(
  task: RemoteTask,
  client: RemoteClient,
  kept: readonly Step[],
): Promise<Omit<Integrity, "orders">> {
  if (kept.length === 0) return skipAll("There was no candle to decide on.");
  const lookahead: Finding = {
    status: "passed",
    evidence: "In step mode the endpoint never gets a candle later than the one to decide on.",
  };
  const again = await findDifference(
    kept,
    (step) => askAgain(client, step.stretch, step.request, [digestOf(step.actions)]),
  );
  const determinism = describeSteps(task, again, kept.length, "the same");
  if (determinism.status !== "passed") {
    return { lookahead, determinism, warm_up: skipAfter(determinism) };
  }
  return { lookahead, determinism, warm_up: await checkStepsWarmUp(task, client, kept) };
}

async function checkStepsWarmUp(task: RemoteTask, client: RemoteClient, kept: readonly Step[]): Promise<Finding> {
  const { lookbackCandles } = task;
  const steps = kept.filter(({ stretch }) => stretch.first >= 2 * lookbackCandles);
  const skipped = skipWarmUp(lookbackCandles, steps.length);
  if (skipped !== null) return skipped;
  const difference = await findDifference(steps, (step) => {
    const stretch = { ...step.stretch, from: step.stretch.first - 2 * lookbackCandles };
    // With more candles and more of the inputs, and the account of the first time.
    const longer = { ...JSON.parse(step.request), ...JSON.parse(writeRequest(task, stretch, null)) };
    return askAgain(client, stretch, JSON.stringify(longer), [digestOf(step.actions)]);
  });
  return describeSteps(task, difference, steps.length, `with twice the ${lookbackCandles} candles of history`);
}

function describeSteps(task: RemoteTask, difference: Difference | null, count: number, how: string): Finding {
  if (difference === null) {
    return { status: "passed", evidence: `Asked again at ${count} candles ${how}: the decisions were the same.` };
  }
  const candle = describeCandle(task, difference.index);
  if (difference.failure !== null) {
    return {
      status: "skipped",
      evidence: `The endpoint failed on the repeated request about ${candle}: ${difference.failure}`,
    };
  }
  return { status: "failed", evidence: `Asked again ${how}, the endpoint decided differently for ${candle}.` };
}

async function findDifference(
  steps: readonly Step[],
  ask: (step: Step) => Promise<Difference | null>,
): Promise<Difference | null> {
  for (const step of steps) {
    const difference = await ask(step);
    if (difference !== null) return difference;
  }
  return null;
}
