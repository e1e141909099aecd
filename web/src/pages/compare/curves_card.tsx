import { useEffect, useRef, useState } from "react";
import type { Comparison } from "../../api.ts";
import { formatPercent, formatTime } from "../../parts/format.ts";
import { useShownTheme } from "../../theme/theme.ts";
import { CurvesChart } from "./curves_chart.ts";
import { Swatch } from "./swatch.tsx";

/** The runs' equity from their common start, and their drawdowns under it. */
export function CurvesCard({ curves }: { readonly curves: Comparison["curves"] }) {
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<CurvesChart>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const theme = useShownTheme();
  useEffect(() => {
    if (container.current === null) return;
    const made = new CurvesChart(container.current, curves, setPointed);
    chart.current = made;
    return () => made.close();
  }, [curves]);
  useEffect(() => chart.current?.repaint(), [theme]);
  const at = pointed ?? curves.timestamps.length - 1;
  return (
    <section aria-label="Curves" className="rounded-lg border border-line bg-surface">
      <div className="flex min-h-8 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-3 py-1.5 text-xs">
        <p className="text-muted">{formatTime(curves.timestamps[at] ?? null)} UTC</p>
        {curves.equity.map((values, i) => (
          <p key={i} className="flex items-center gap-1.5">
            <Swatch index={i} />
            <span>{formatPercent(growth(values[at]), true)}</span>
            <span className="text-muted">drawdown {formatPercent(curves.drawdown[i]?.[at])}</span>
          </p>
        ))}
      </div>
      <div ref={container} role="img" aria-label="Returns and drawdowns of the runs" className="h-[min(460px,70dvh)]" />
      <p className="border-t border-line px-3 py-1 text-2xs text-muted">
        Returns begin where all runs have begun, {formatTime(curves.timestamps[0] ?? null)} UTC. Charts by{" "}
        <a className="underline" href="https://www.tradingview.com/" rel="noreferrer" target="_blank">TradingView</a>
        {" "}
        Lightweight Charts™.
      </p>
    </section>
  );
}

/** The return at an equity whose start is 1. */
function growth(equity: number | null | undefined): number | null {
  return equity === null || equity === undefined ? null : equity - 1;
}
