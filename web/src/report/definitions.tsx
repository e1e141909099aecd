import type { Metric } from "../api.ts";

/** The meaning and the formula of each metric, for those who read on paper. */
export function Definitions({ metrics }: { readonly metrics: readonly Metric[] }) {
  return (
    <dl className="gap-8 text-xs sm:columns-2">
      {metrics.map(({ name, label, meaning, formula, unit }) => (
        <div key={name} className="mb-2 break-inside-avoid">
          <dt className="font-medium">{label}</dt>
          <dd>{meaning}</dd>
          <dd className="break-words text-muted">{formula} ({unit})</dd>
        </div>
      ))}
    </dl>
  );
}
