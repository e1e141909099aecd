import { useQuery } from "@tanstack/react-query";
import { type Ref, type RefObject, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { api, type Backtest, type TradeAt } from "../../../api.ts";
import { useShownTheme } from "../../../theme/theme.ts";
import { ChartHeader, ChartNote } from "./chart_header.tsx";
import { coarserThan, useChartSettings, zonesOf } from "./chart_settings.ts";
import { joinBars, loadBars, loadCoarse, type LoadedFills, loadFills, POINTS, type RunBars } from "./run_bars.ts";
import { nameCharts } from "./chart_series.ts";
import { type ChartMarket, isTraded, ownPanes } from "./panes.ts";
import { PaneSeparators } from "./pane_separators.tsx";
import { usePaperPicture } from "./paper_picture.ts";
import { moveByKey, type Picked, PickedBar } from "./picked_bar.tsx";
import { type ChartView, lastAtMost } from "./chart_window.ts";
import { StackedChart } from "./stacked_chart.ts";
import { levelsOf, type TradeLevel } from "./trade_levels.ts";
import { describeFills } from "./trade_marks.ts";

/** The height of the run's own panes, and of each pane of plots below them. On a phone all of them share what its first screen leaves. */
const HEIGHT = "[--charts:580px] [--own-pane:110px] min-[2000px]:[--charts:max(580px,100dvh-34rem)] " +
  "max-sm:[--charts:max(20rem,100dvh-27.5rem)] max-sm:[--own-pane:0px]";

/** Lets other parts of the page move the charts. */
export interface ChartsHandle {
  /** Shows a trade with its prices. */
  showTrade(trade: TradeAt): void;
}

/** The part of a run that its charts need. */
export type ChartedRun = Pick<Backtest, "id" | "parameters" | "symbol" | "exchange" | "result">;

/**
 * Candles with trades, equity against buy and hold, drawdown and position of a completed run.
 *
 * @param market Of a run over many: the one whose candles and fills are drawn; empty: the benchmark.
 * @param chooseMarket Absent where there is no choice. @param first The trade that is shown at first.
 * @param view The stretch that is shown at first. @param onView Receives each that was moved to; null is the whole run.
 * @param picks True if a click on a bar says what happened there.
 */
export function Charts({ backtest, market = "", ...others }: {
  readonly backtest: ChartedRun;
  readonly market?: string;
  readonly chooseMarket?: (market: string) => void;
  readonly handle?: Ref<ChartsHandle> | undefined;
  readonly first?: TradeAt | undefined;
  readonly view?: ChartView | undefined;
  readonly onView?: (view: ChartView | null) => void;
  readonly picks?: boolean;
}) {
  const { id, result } = backtest;
  const waiting = useRef<RunTrade>(null);
  const chosen = useRef(new Map<string, TradeAt>());
  const [isLarge, enlarge] = useState(false);
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
    <section
      aria-label="Charts"
      data-large={isLarge || undefined}
      // A menu's key comes by here, too.
      onKeyDown={({ key, target, currentTarget }) =>
        key === "Escape" && target instanceof Node && currentTarget.contains(target) && enlarge(false)}
      className={isLarge
        ? "fixed inset-0 z-10 flex flex-col overflow-auto bg-surface"
        : "rounded-lg border border-line bg-surface"}
    >
      {data === undefined
        ? (
          <div
            className="grid h-[650px] place-items-center text-muted max-sm:h-[max(29rem,100dvh-18rem)]"
            role="status"
          >
            {error ? "The charts could not be loaded." : "Loading the charts …"}
          </div>
        )
        : (
          <Drawing
            backtest={backtest}
            data={data}
            market={own}
            waiting={waiting}
            chosen={chosen.current}
            isLarge={isLarge}
            enlarge={enlarge}
            {...others}
          />
        )}
    </section>
  );
}

interface RunTrade {
  readonly of: string;
  readonly trade: TradeAt;
}

interface DrawingProps {
  readonly backtest: ChartedRun;
  readonly data: RunBars;
  readonly market: string | undefined;
  readonly chooseMarket?: ((market: string) => void) | undefined;
  /** The trade that is shown when the candles of its market are there. */
  readonly waiting: RefObject<RunTrade | null>;
  /** The trade whose prices are drawn, by the id of its run: changes of a run's settings take its place, and it comes back. */
  readonly chosen: Map<string, TradeAt>;
  readonly handle?: Ref<ChartsHandle> | undefined;
  readonly first?: TradeAt | undefined;
  readonly view?: ChartView | undefined;
  readonly onView?: (view: ChartView | null) => void;
  readonly picks?: boolean;
  /** True where the charts fill the window. */
  readonly isLarge: boolean;
  readonly enlarge: (isLarge: boolean) => void;
}

function Drawing({ picks = false, view: firstView, isLarge, enlarge, ...props }: DrawingProps) {
  const { backtest, data, market, chooseMarket, waiting, chosen, handle, first, onView } = props;
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
  const [isPointed, lastMs] = [useRef(false), useRef(Infinity)];
  const [fills, setFills] = useState<LoadedFills>();
  const sentences = useMemo(() => fills && describeFills(fills.trades, bar.data), [bar.data, fills]);
  const [picked, setPicked] = useState<Picked | null>(null);
  const [{ hidden, scale, shares, clock, coarse }, change] = useChartSettings();
  const zones = zonesOf(backtest);
  const zone = zones[clock];
  const seen = useRef<ChartView>(null);
  const [lines, setLines] = useState<readonly TradeLevel[]>([]);
  const settle = useRef(onView);
  settle.current = onView;
  const [view, setView] = useState({ fromMs: data.time[0]!, toMs: data.time.at(-1)!, fills: 0, areDrawn: true });
  const drawn = [id, market, shown, data, hidden];
  useEffect(() => {
    if (container.current === null) return;
    const made = new StackedChart(container.current, data, {
      load: (window) => loadBars({ id, market }, window, data.plots),
      loadFills: isTraded(result, shown)
        ? (fromMs, untilMs) => loadFills({ id, market: shown?.drawn }, fromMs, untilMs)
        : null,
      loadCoarse: (timeframe, stretch) => loadCoarse({ id, market }, timeframe, stretch),
      market: shown,
      events: {
        onBar: (of, at) => {
          isPointed.current = at !== null;
          setBar({ data: of, bar: at ?? barBefore(of, lastMs.current) });
        },
        onPick: (of, at) => {
          isPointed.current = true;
          setBar({ data: of, bar: at });
          if (picks) setPicked({ data: of, bar: at });
        },
        onSettle: (at) => {
          seen.current = at;
          settle.current?.(at);
        },
        onFills: setFills,
        onView: (of, fromMs, toMs, count, areDrawn) => {
          setView({ fromMs, toMs, fills: count, areDrawn });
          lastMs.current = toMs;
          if (!isPointed.current) setBar({ data: of, bar: barBefore(of, toMs) });
        },
        onShares: (dragged) => change({ shares: dragged }),
      },
      hidden,
    });
    chart.current = made;
    isPointed.current = false;
    setBar({ data, bar: data.time.length - 1 });
    setPicked(null);
    setFills(undefined);
    setLines([]);
    return () => made.close();
  }, drawn);
  useEffect(() => chart.current?.arrange({ scale, shares }, zone), [...drawn, scale, shares, zone]);
  const longer = coarserThan(backtest).find((each) => each === coarse);
  useEffect(() => chart.current?.setCoarse(longer), [...drawn, longer]);
  const levels = (trade: TradeAt) => {
    chosen.set(id, trade);
    const of = trade.table.instrument[trade.i] ?? undefined;
    // Prices of another market have no place among these candles.
    const prices = of === undefined || of === shown?.drawn ? levelsOf(trade, parameters) : [];
    chart.current?.setLevels(prices);
    setLines(prices);
  };
  const show = (trade: TradeAt) => {
    levels(trade);
    const entry = trade.table.entry_time[trade.i]!;
    void chart.current?.goTo(entry, trade.table.exit_time[trade.i] ?? entry);
  };
  useEffect(() => {
    const isFirst = isFresh.current;
    isFresh.current = false;
    const { of, trade } = waiting.current ?? {};
    if (of !== id) waiting.current = null;
    else if (trade !== undefined && (market === undefined || trade.table.instrument[trade.i] === market)) {
      waiting.current = null;
      return show(trade);
    }
    const before = chosen.get(id);
    if (before !== undefined) levels(before);
    const at = isFirst ? firstView : seen.current;
    if (at != null) void chart.current?.goTo(at.fromMs, at.toMs, 0);
  }, [data, hidden]);
  useEffect(() => {
    if (first === undefined || chosen.has(id)) return;
    if (firstView === undefined) show(first);
    else levels(first);
  }, [first]);
  useEffect(() => chart.current?.repaint(), [theme]);
  const paper = usePaperPicture(chart);
  useImperativeHandle(handle, () => ({
    showTrade: (trade) => {
      reveal(container.current);
      const of = trade.table.instrument[trade.i] ?? undefined;
      if (of === undefined || of === market || chooseMarket === undefined) return show(trade);
      waiting.current = { of: id, trade };
      chooseMarket(of);
    },
  }), [id, parameters, market, chooseMarket, shown]);
  return (
    <>
      <ChartHeader
        {...{ backtest, shown, market, chooseMarket, zone, zones, bar, isLarge, enlarge }}
        sentence={sentences?.get(bar.bar)}
        showAll={() => void chart.current?.showAll()}
      />
      <div
        className={`relative min-h-0 grow print:hidden ${HEIGHT}`}
        style={isLarge ? {} : { height: `calc(var(--charts) + var(--own-pane) * ${ownPanes(data.plots).length})` }}
      >
        <div
          ref={container}
          role="img"
          tabIndex={picks ? 0 : undefined}
          onKeyDown={(event) => {
            const { key } = event;
            if (key === "Escape" && picked !== null) {
              event.stopPropagation();
              setPicked(null);
            } else moveByKey(chart.current, key, picked?.data.time[picked.bar] ?? view.toMs);
          }}
          aria-label={nameCharts(shown, data.plots, hidden, lines)}
          className="absolute inset-0 scroll-mt-14"
        />
        {picks && <PaneSeparators chart={chart} container={container} drawn={[...drawn, shares]} />}
      </div>
      {picked !== null && (
        <PickedBar
          {...picked}
          zone={zone}
          run={backtest}
          shown={shown}
          onClose={() => setPicked(null)}
        />
      )}
      <div ref={paper} className="hidden print:block" />
      <ChartNote {...view} zone={zone} />
    </>
  );
}

/** The last bar that begins at a time or before it. @param timeMs Since 1970. */
function barBefore({ time }: RunBars, timeMs: number): number {
  return Math.max(0, lastAtMost(time, timeMs));
}

/** Scrolls up to the charts where the page's header, or its edge, hides their top. */
function reveal(charts: HTMLElement | null): void {
  if (charts === null) return;
  const hidden = Number.parseFloat(getComputedStyle(charts).scrollMarginTop);
  if (charts.getBoundingClientRect().top < hidden) charts.scrollIntoView({ block: "start" });
}
