import type { PlotData } from "../../../api.ts";
import { formatExact } from "../../../parts/format.ts";
import { plotLook } from "./plot_lines.ts";

/** The plots' lines with their names, and their values at a bar. */
export function PlotLegend({ plots, values, bar }: Pick<PlotData, "plots" | "values"> & { readonly bar: number }) {
  if (plots.length === 0) return null;
  return (
    <dl aria-label="Plots" className="flex w-full flex-wrap gap-x-4 text-xs">
      {plots.map(({ name }, place) => (
        <div key={name} className="flex min-w-0 items-center gap-1">
          <dt className="flex min-w-0 items-center gap-1 text-muted">
            <Line place={place} />
            <span className="truncate">{name}</span>
          </dt>
          <dd>{formatExact(values[place]?.[bar])}</dd>
        </div>
      ))}
    </dl>
  );
}

function Line({ place }: { readonly place: number }) {
  const { token, dash } = plotLook(place);
  return (
    <svg width="18" height="8" aria-hidden="true" className="shrink-0">
      <line x1="0" y1="4" x2="18" y2="4" strokeWidth="2" stroke={`var(--${token})`} strokeDasharray={dash} />
    </svg>
  );
}
