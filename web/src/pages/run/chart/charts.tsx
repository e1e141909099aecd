import { useQuery } from "@tanstack/react-query";
import { type Ref, type RefObject, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { api, type Backtest, type TradeTable } from "../../../api.ts";
import { Button } from "../../../parts/button.tsx";
import { formatCount, formatDate, formatExact, formatMoney, formatPercent } from "../../../parts/format.ts";
import { Legend } from "../../../parts/legend.tsx";
import { usePrinting, useShownTheme } from "../../../theme/theme.ts";
import { PlotLegend } from "./plot_legend.tsx";
import { ownPanes, PLOT_PANE_PX } from "./plot_lines.ts";
import { joinBars, loadBars, POINTS, type RunBars } from "./run_bars.ts";
import { Choice } from "../../../parts/choice.tsx";
import { type ChartMarket, nameCharts } from "./chart_series.ts";
import { moveByKey, type Picked, PickedBar } from "./picked_bar.tsx";
import { type ChartView, StackedChart } from "./stacked_chart.ts";
import { levelsOf } from "./trade_levels.ts";
import { describeFills } from "./trade_marks.ts";

const CHARTS_PX = 580;

/** Lets other parts of the page move the charts. */
export interface ChartsHandle {
  /** Shows a trade with its prices. @param i Its index in the table. */
  showTrade(i: number): void;
}

type Run = Pick<Backtest, "id" | "parameters" | "symbol" | "exchange" | "result">;

/**
 * Candles with trades, equity against buy and hold, drawdown and position of a completed run.
 *
 * @param market Of a run over many: the one whose candles and fills are drawn; empty: the benchmark.
 * @param chooseMarket Absent where there is no choice. @param first The number of the trade that is shown at first.
 * @param view The stretch that is shown at first. @param onView Receives each that was moved to; null is the whole run.
 * @param picks True if a click on a bar says what happened there.
 */
export function Charts({ backtest, trades, market = "", ...others }: {
  readonly backtest: Run;
  readonly trades: TradeTable | undefined;
  readonly market?: string;
  readonly chooseMarket?: (market: string) => void;
  readonly handle?: Ref<ChartsHandle> | undefined;
  readonly first?: number | undefined;
  readonly view?: ChartView | undefined;
  readonly onView?: (view: ChartView | null) => void;
  readonly picks?: boolean;
}) {
  const { id, result } = backtest;
  const waiting = useRef<number | null>(null);
  const markets = result?.portfolio?.contributions ?? [];
  const isKnown = markets.some(({ instrument }) => instrument === market);
  const own = isKnown ? market : undefined;
  const input = own === undefined ? { id, points: POINTS } : { id, points: POINTS, market: own };
  const chart = useQuery(api.backtests.chart.queryOptions(input, { staleTime: Infinity }));
  const plots = useQuery(api.backtests.series.queryOptions(input, { staleTime: Infinity }));
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
        : (
          <Drawing
            backtest={backtest}
            data={data}
            trades={trades}
            market={own}
            waiting={waiting}
            {...others}
          />
        )}
    </section>
  );
}

interface DrawingProps {
  readonly backtest: Run;
  readonly data: RunBars;
  readonly trades: TradeTable | undefined;
  readonly market: string | undefined;
  readonly chooseMarket?: ((market: string) => void) | undefined;
  /** The trade that is shown when the candles of its market are there. */
  readonly waiting: RefObject<number | null>;
  readonly handle?: Ref<ChartsHandle> | undefined;
  readonly first?: number | undefined;
  readonly view?: ChartView | undefined;
  readonly onView?: (view: ChartView | null) => void;
  readonly picks?: boolean;
}

function Drawing(
  { backtest, data, trades, market, chooseMarket, waiting, handle, first, view: firstView, onView, picks = false }:
    DrawingProps,
) {
  const isFresh = useRef(true);
  const { id, parameters, symbol, exchange, result } = backtest;
  const isPortfolio = result?.portfolio !== undefined;
  const shown = useMemo<ChartMarket | null>(() => {
    const benchmark = `${symbol}@${exchange}`;
    return isPortfolio ? { drawn: market ?? benchmark, benchmark } : null;
  }, [isPortfolio, symbol, exchange, market]);
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<StackedChart>(null);
  const theme = useShownTheme();
  const [bar, setBar] = useState<{ data: RunBars; bar: number }>({ data, bar: data.time.length - 1 });
  const sentences = useMemo(
    () => trades === undefined ? undefined : describeFills(trades, bar.data, shown?.drawn ?? null),
    [bar.data, trades, shown],
  );
  const [picked, setPicked] = useState<Picked | null>(null);
  const settle = useRef(onView);
  settle.current = onView;
  const [view, setView] = useState({ fromMs: data.time[0]!, toMs: data.time.at(-1)!, fills: 0, areDrawn: true });
  useEffect(() => {
    if (container.current === null) return;
    const made = new StackedChart(container.current, data, {
      load: (window) => loadBars({ id, market }, window, data.plots),
      market: shown,
      events: {
        onBar: (of, at) => setBar({ data: of, bar: at ?? of.time.length - 1 }),
        onPick: (of, at) => picks && setPicked({ data: of, bar: at }),
        onSettle: (at) => settle.current?.(at),
        onView: (fromMs, toMs, fills, areDrawn) => setView({ fromMs, toMs, fills, areDrawn }),
      },
    });
    chart.current = made;
    setBar({ data, bar: data.time.length - 1 });
    setPicked(null);
    return () => made.close();
  }, [id, market, shown, data]);
  const levels = (i: number) => {
    if (trades === undefined) return;
    const of = trades.instrument[i] ?? undefined;
    // Prices of another market have no place among these candles.
    chart.current?.setLevels(of === undefined || of === shown?.drawn ? levelsOf(trades, i, parameters) : []);
  };
  const show = (i: number) => {
    if (trades === undefined) return;
    levels(i);
    const entry = trades.entry_time[i]!;
    void chart.current?.goTo(entry, trades.exit_time[i] ?? entry);
  };
  useEffect(() => {
    if (trades === undefined) return;
    chart.current?.setTrades(trades);
    const i = waiting.current ?? (isFresh.current && first !== undefined ? trades.number.indexOf(first) : -1);
    const isFirst = isFresh.current;
    isFresh.current = false;
    if (isFirst && firstView !== undefined) {
      if (i >= 0) levels(i);
      return void chart.current?.goTo(firstView.fromMs, firstView.toMs, 0);
    }
    if (i < 0 || (market !== undefined && trades.instrument[i] !== market)) return;
    waiting.current = null;
    show(i);
  }, [trades, data]);
  useEffect(() => chart.current?.repaint(), [theme]);
  const paper = usePaperPicture(chart);
  useImperativeHandle(handle, () => ({
    showTrade: (i) => {
      const of = trades?.instrument[i] ?? undefined;
      if (of === undefined || of === market || chooseMarket === undefined) return show(i);
      waiting.current = i;
      chooseMarket(of);
    },
  }), [trades, parameters, market, chooseMarket]);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-3 py-1.5">
        {isPortfolio && chooseMarket !== undefined && (
          <Choice
            label="Candles of"
            values={["", ...(result?.portfolio?.contributions ?? []).map(({ instrument }) => instrument)]}
            labelOf={(each) => labelMarket(backtest, each)}
            value={market ?? ""}
            onChange={chooseMarket}
          />
        )}
        <BarValues {...bar} isPortfolio={isPortfolio} />
        <p className="ml-auto flex items-center gap-2 text-xs text-muted">
          <span>{formatDate(view.fromMs)} to {formatDate(view.toMs)}</span>
          <Button kind="quiet" className="print:hidden" onClick={() => void chart.current?.showAll()}>Whole run</Button>
        </p>
        <p className="w-full min-h-4 text-xs text-muted print:hidden">{sentences?.get(bar.bar)}</p>
        <PlotLegend plots={bar.data.plots} values={bar.data.values} bar={bar.bar} />
      </div>
      <div
        ref={container}
        role="img"
        tabIndex={picks ? 0 : undefined}
        onKeyDown={({ key }) => {
          if (key === "Escape") setPicked(null);
          else moveByKey(chart.current, key, picked?.data.time[picked.bar] ?? view.toMs);
        }}
        aria-label={nameCharts(shown, data)}
        className="print:hidden"
        style={{ height: CHARTS_PX + PLOT_PANE_PX * ownPanes(data.plots).length }}
      />
      {picked !== null && (
        <PickedBar
          {...picked}
          run={backtest}
          shown={shown}
          trades={trades}
          onClose={() => setPicked(null)}
        />
      )}
      <div ref={paper} className="hidden print:block" />
      <ChartNote {...view} />
    </>
  );
}

/** The maker of the charts, and the fills in view that are too many to be drawn. */
function ChartNote({ fills, areDrawn }: { readonly fills: number; readonly areDrawn: boolean }) {
  return (
    <p className="flex flex-wrap justify-between gap-x-4 border-t border-line px-3 py-1 text-2xs text-muted">
      <span>
        Times are UTC. Charts by{" "}
        <a className="underline" href="https://www.tradingview.com/" rel="noreferrer" target="_blank">TradingView</a>
        {" "}
        Lightweight Charts™.
      </span>
      <span className="min-h-4 print:hidden">
        {areDrawn ? "" : `${formatCount(fills)} fills in view: zoom in to see them`}
      </span>
    </p>
  );
}

/** A market with its currency, where there are several. */
function labelMarket({ symbol, exchange, result }: Run, market: string): string {
  if (market === "") return `Benchmark ${symbol}@${exchange}`;
  const currency = result?.portfolio?.contributions.find(({ instrument }) => instrument === market)?.currency;
  return currency === undefined ? market : `${market}, ${currency}`;
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
function BarValues({ data, bar, isPortfolio }: {
  readonly data: RunBars;
  readonly bar: number;
  readonly isPortfolio: boolean;
}) {
  const items: readonly (readonly [label: string, value: string])[] = [
    ["O", formatExact(data.open[bar])],
    ["H", formatExact(data.high[bar])],
    ["L", formatExact(data.low[bar])],
    ["C", formatExact(data.close[bar])],
    ["Equity", formatMoney(data.equity[bar])],
    ["Buy & hold", formatMoney(data.buy_hold[bar])],
    ["Drawdown", formatPercent(data.drawdown[bar])],
    isPortfolio ? ["Net exposure", formatPercent(data.position[bar])] : ["Position", formatExact(data.position[bar])],
  ];
  return (
    <div className="flex flex-wrap gap-x-3 text-xs">
      <Legend time={data.time[bar] ?? null} items={items} />
    </div>
  );
}
