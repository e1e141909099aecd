import type { ReactNode } from "react";
import type { Metric } from "../../api.ts";
import { Tip } from "../../parts/tip.tsx";

interface Explained {
  readonly metric: Metric;
  /** Why it has no value here. */
  readonly reason?: string | undefined;
}

/** A metric's name, with its definition while it has the pointer or the focus. */
export function MetricName({ metric, reason }: Explained) {
  return <Tip text={<MetricMeaning metric={metric} reason={reason} />}>{metric.label}</Tip>;
}

/** A metric's definition. */
function MetricMeaning({ metric: { meaning, formula, unit, sample }, reason }: Explained) {
  return (
    <>
      <p>{meaning}</p>
      <p className="mt-1 text-muted">{formula}</p>
      <p className="mt-1 text-xs text-muted">Unit: {unit}. Measured on {sample}.</p>
      {reason !== undefined && <p className="mt-1 text-warn">No value here: {reason}</p>}
    </>
  );
}

/** The definition for the heading of a column; undefined for a name that is no metric's. */
export function meaningOf(metrics: readonly Metric[], name: string): ReactNode {
  const metric = metrics.find((each) => each.name === name);
  return metric && <MetricMeaning metric={metric} />;
}
