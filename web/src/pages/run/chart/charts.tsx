import { useQuery } from "@tanstack/react-query";
import { type Ref, type RefObject, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { api, type Backtest, type TradeTable } from "../../../api.ts";
import { Button } from "../../../parts/button.tsx";
import { formatCount, formatDate, formatExact, formatMoney, formatPercent } from "../../../parts/format.ts";
import { Legend } from "../../../parts/legend.tsx";
import { usePrinting, useShownTheme } from "../../../theme/theme.ts";
import { PlotLegend } from "./plot_legend.tsx";
import { ownPanes, PLOT_PANE_PX } from "./plot_lines.ts";
import { joinBars, loadBars, type RunBars } from "./run_bars.ts";
import { StackedChart } from "./stacked_chart.ts";
import { levelsOf } from "./trade_levels.ts";

const CHARTS_PX = 580;
/** Bars of the charts at first, about. */
export const POINTS = 1_000;

/** Lets other parts of the page move the charts. */
export interface ChartsHandle {
  /** Shows a trade with its prices. @param i Its index in the table. */
  showTrade(i: number): void;
}

/** Candles with trades, equity against buy and hold, drawdown and position of a completed run. */
export function Charts({ id, parameters, trades, handle }: {
  readonly id: string;
  readonly parameters: Backtest["parameters"];
  readonly trades: TradeTable | undefined;
  readonly handle?: Ref<ChartsHandle> | undefined;
}) {
  const chart = useQuery(api.backtests.chart.queryOptions({ id, points: POINTS }, { staleTime: Infinity }));
  const plots = useQuery(api.backtests.series.queryOptions({ id, points: POINTS }, { staleTime: Infinity }));
  const error = chart.error ?? plots.error;
  const data = useMemo(
    () => chart.data === undefined || plots.data === undefined ? undefined : joinBars(chart.data, plots.data),
    [chart.data, plots.data],
  );
  return (
    <section aria-label="Charts" className="rounded-lg border border-line bg-surface">
      {data === undefined
        ? (
          <div className="grid h-[650px] place-items-center text-muted max-sm:h-[720px]" role="status">
            {error ? "The charts could not be loaded." : "Loading the charts …"}
          </div>
        )
        : <Drawing id={id} parameters={parameters} data={data} trades={trades} handle={handle} />}
    </section>
  );
}

function Drawing({ id, parameters, data, trades, handle }: {
  readonly id: string;
  readonly parameters: Backtest["parameters"];
  readonly data: RunBars;
  readonly trades: TradeTable | undefined;
  readonly handle?: Ref<ChartsHandle> | undefined;
}) {
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<StackedChart>(null);
  const theme = useShownTheme();
  const [bar, setBar] = useState<{ data: RunBars; bar: number }>({ data, bar: data.time.length - 1 });
  const [view, setView] = useState({ fromMs: data.time[0]!, toMs: data.time.at(-1)!, fills: 0, areDrawn: true });
  useEffect(() => {
    if (container.current === null) return;
    const made = new StackedChart(container.current, data, (window) => loadBars(id, window, data.plots), {
      onBar: (of, at) => setBar({ data: of, bar: at ?? of.time.length - 1 }),
      onView: (fromMs, toMs, fills, areDrawn) => setView({ fromMs, toMs, fills, areDrawn }),
    });
    chart.current = made;
    return () => made.close();
  }, [id, data]);
  useEffect(() => {
    if (trades !== undefined) chart.current?.setTrades(trades);
  }, [trades, data]);
  useEffect(() => chart.current?.repaint(), [theme]);
  const paper = usePaperPicture(chart);
  useImperativeHandle(handle, () => ({
    showTrade: (i) => {
      if (trades === undefined) return;
      // Prices of another market have no place among the benchmark's candles.
      chart.current?.setLevels(trades.instrument[i] == null ? levelsOf(trades, i, parameters) : []);
      const entry = trades.entry_time[i]!;
      void chart.current?.goTo(entry, trades.exit_time[i] ?? entry);
    },
  }), [trades, parameters]);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-3 py-1.5">
        <BarValues {...bar} />
        <p className="ml-auto flex items-center gap-2 text-xs text-muted">
          <span>{formatDate(view.fromMs)} to {formatDate(view.toMs)}</span>
          <Button kind="quiet" className="print:hidden" onClick={() => void chart.current?.showAll()}>Whole run</Button>
        </p>
        <PlotLegend plots={bar.data.plots} values={bar.data.values} bar={bar.bar} />
      </div>
      <div
        ref={container}
        role="img"
        aria-label={["Candles, equity, drawdown and position", ...data.plots.map(({ name }) => name)].join(", ")}
        className="print:hidden"
        style={{ height: CHARTS_PX + PLOT_PANE_PX * ownPanes(data.plots).length }}
      />
      <div ref={paper} className="hidden print:block" />
      <p className="flex flex-wrap justify-between gap-x-4 border-t border-line px-3 py-1 text-2xs text-muted">
        <span>
          Times are UTC. Charts by{" "}
          <a className="underline" href="https://www.tradingview.com/" rel="noreferrer" target="_blank">TradingView</a>
          {" "}
          Lightweight Charts™.
        </span>
        <span className="min-h-4 print:hidden">
          {view.areDrawn ? "" : `${formatCount(view.fills)} fills in view: zoom in to see them`}
        </span>
      </p>
    </>
  );
}

/** The element that shows a picture of the chart while the page is printed. */
function usePaperPicture(chart: RefObject<StackedChart | null>): RefObject<HTMLDivElement | null> {
  const paper = useRef<HTMLDivElement>(null);
  const isPrinting = usePrinting();
  useEffect(() => {
    const picture = isPrinting ? chart.current?.draw() : undefined;
    if (picture === undefined) return;
    picture.style.width = "100%";
    paper.current?.append(picture);
    return () => picture.remove();
  }, [isPrinting, chart]);
  return paper;
}

/** The values of the bar under the pointer, or of the last one. */
function BarValues({ data, bar }: { readonly data: RunBars; readonly bar: number }) {
  const items = [
    ["O", formatExact(data.open[bar])],
    ["H", formatExact(data.high[bar])],
    ["L", formatExact(data.low[bar])],
    ["C", formatExact(data.close[bar])],
    ["Equity", formatMoney(data.equity[bar])],
    ["Buy & hold", formatMoney(data.buy_hold[bar])],
    ["Drawdown", formatPercent(data.drawdown[bar])],
    ["Position", formatExact(data.position[bar])],
  ] as const;
  return (
    <div className="flex flex-wrap gap-x-3 text-xs">
      <Legend time={data.time[bar] ?? null} items={items} />
    </div>
  );
}
