import type { Metric } from "../../api.ts";
import { toWords } from "../../parts/format.ts";
import { Tip } from "../../parts/tip.tsx";

const WORDS: Readonly<Record<string, string>> = {
  cagr: "CAGR",
  sqn: "SQN",
  buy_hold_return: "Buy & hold",
  total_return: "Net return",
  max_drawdown: "Max drawdown",
};

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
      {nameOf(metric.name)}
    </Tip>
  );
}

/** A metric's name as it is read. */
export function nameOf(name: string): string {
  const words = WORDS[name] ?? toWords(name);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
