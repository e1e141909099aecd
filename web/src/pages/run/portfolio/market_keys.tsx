import type { DrawnMarkets } from "./market_lines.ts";

/** Which colour is which market. @param label Says in which order they stand. */
export function MarketKeys({ label, drawn }: { readonly label: string; readonly drawn: DrawnMarkets["drawn"] }) {
  return (
    <ul aria-label={label} className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {drawn.map(({ name, color }) => (
        <li key={name} className="flex items-center gap-1.5">
          <span aria-hidden="true" className="inline-block size-2.5" style={{ backgroundColor: color }} />
          {name}
        </li>
      ))}
    </ul>
  );
}
