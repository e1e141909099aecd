import { useQuery } from "@tanstack/react-query";
import { createChart } from "lightweight-charts";
import { useEffect, useRef } from "react";
import { api, type PlotData } from "../../api.ts";
import { chartLook, TIME_SCALE } from "../../parts/chart_look.ts";
import { useShownTheme } from "../../theme/theme.ts";
import { PlotLegend } from "./chart/plot_legend.tsx";
import { ownPanes, plotPanes, PRICE_PANE } from "./chart/panes.ts";
import { PLOT_PANE_PX, PlotLines } from "./chart/plot_lines.ts";

const POINTS = 2_000;
const PRICE_PX = 240;

/** The series that the strategy of a failed run plotted until then; nothing where it plotted none. */
export function FailedPlots({ id }: { readonly id: string }) {
  const { data } = useQuery(api.backtests.series.queryOptions({ id, points: POINTS }, { staleTime: Infinity }));
  return data === undefined || data.plots.length === 0 ? null : <Drawing data={data} />;
}

function Drawing({ data }: { readonly data: PlotData }) {
  const container = useRef<HTMLDivElement>(null);
  const theme = useShownTheme();
  const own = ownPanes(data.plots).length;
  const hasPrices = data.plots.some(({ pane }) => pane === PRICE_PANE);
  useEffect(() => {
    if (container.current === null) return;
    const chart = createChart(container.current, chartLook(container.current));
    chart.timeScale().applyOptions(TIME_SCALE);
    const lines = new PlotLines(chart, data.plots, [
      ...(hasPrices ? [{ key: PRICE_PANE }] : []),
      ...plotPanes(data.plots),
    ]);
    lines.repaint();
    lines.show(data.time, data.values);
    chart.timeScale().fitContent();
    return () => chart.remove();
  }, [data, hasPrices, theme]);
  return (
    <section aria-label="Plots until the failure" className="rounded-lg border border-line bg-surface">
      <div className="border-b border-line px-3 py-1.5">
        <PlotLegend plots={data.plots} values={data.values} bar={data.time.length - 1} />
      </div>
      <div
        ref={container}
        role="img"
        aria-label={data.plots.map(({ name }) => name).join(", ")}
        style={{ height: (hasPrices ? PRICE_PX : 0) + Math.max(own, hasPrices ? 0 : 2) * PLOT_PANE_PX }}
      />
    </section>
  );
}
