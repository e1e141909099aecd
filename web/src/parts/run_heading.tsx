import type { Backtest } from "../api.ts";
import { StatusBadge } from "./status_badge.tsx";

/** The name of a run with its status. */
export function RunHeading({ run }: { readonly run: Backtest }) {
  return (
    <h1 className="flex min-w-0 flex-wrap items-baseline gap-x-3 text-xl font-semibold max-sm:flex-nowrap max-sm:text-base">
      <span className="min-w-0 wrap-anywhere max-sm:line-clamp-3">{run.name ?? run.default_name}</span>
      <StatusBadge {...run} />
    </h1>
  );
}
