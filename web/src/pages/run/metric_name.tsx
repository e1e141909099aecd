import type { Metric } from "../../api.ts";
import { Tip } from "../../parts/tip.tsx";

/** A metric's name, with its definition on hover. @param reason Why it has no value here. */
export function MetricName({ metric, reason }: { readonly metric: Metric; readonly reason?: string | undefined }) {
  return (
    <Tip
      text={
        <>
          <p>{metric.meaning}</p>
          <p className="mt-1 text-muted">{metric.formula}</p>
          <p className="mt-1 text-xs text-muted">Unit: {metric.unit}. Measured on {metric.sample}.</p>
          {reason !== undefined && <p className="mt-1 text-warn">No value here: {reason}</p>}
        </>
      }
    >
      {metric.label}
    </Tip>
  );
}
