import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { api, describeError, type Instrument, type Tick } from "../../api.ts";
import { buttonClass } from "../../parts/button.tsx";
import { Failure, NotFound } from "../../parts/failure.tsx";
import { formatCount, formatDate, formatExact, formatPercent, toneClass } from "../../parts/format.ts";
import { type Timeframe, timeframesFrom } from "../../parts/candle_timeframes.ts";
import { Legend } from "../../parts/legend.tsx";
import { useShownTheme } from "../../theme/theme.ts";
import { endOf, findInstrument, loadCandles } from "./candle_pages.ts";
import { HeldTimeline } from "./held_timeline.tsx";
import { PriceChart } from "./price_chart.ts";
import { PROVIDER_NAMES } from "../../parts/provider_name.ts";
import { DAY_MS } from "../../parts/scale.ts";

const route = getRouteApi("/signed-in/data/$exchange/$symbol");

/** An instrument's candles in any timeframe, and the facts about them. */
export function InstrumentPage() {
  const { symbol, exchange } = route.useParams();
  const { data: instrument, error, refetch } = useQuery({
    queryKey: [...api.marketData.instruments.pathKey(), { symbol, exchange }],
    queryFn: () => findInstrument(symbol, exchange),
  });
  if (instrument === undefined) {
    if (error) return <Failure error={error} reset={() => void refetch()} />;
    return <p role="status" className="py-24 text-center text-muted">Loading the instrument …</p>;
  }
  if (instrument === null) return <NotFound />;
  return (
    <div className="flex flex-col gap-3">
      <header className="flex flex-wrap items-end justify-between gap-2">
        <div className="min-w-0">
          <p className="text-sm">
            <Link to="/data" className="text-accent underline">Market data</Link>
          </p>
          <h1 className="text-xl font-semibold break-all">{symbol}</h1>
          <p className="flex flex-wrap gap-x-2 text-sm text-muted">
            <span className="break-all">{exchange}</span>
            <span>· {instrument.assetClass}</span>
            <span>· {PROVIDER_NAMES[instrument.provider]}</span>
            <span>
              · {formatCount(instrument.candles)} candles held as {instrument.timeframes.join(", ") || "nothing"}
            </span>
            <span className="whitespace-nowrap">
              · {formatDate(instrument.first)} to {formatDate(instrument.last)} (UTC)
            </span>
          </p>
        </div>
        {instrument.first !== null && (
          <Link to="/runs/new" search={{ market: `${symbol}@${exchange}` }} className={buttonClass()}>
            Run a strategy on it
          </Link>
        )}
      </header>
      <ChartCard instrument={instrument} />
      <HeldTimeline instrument={instrument} />
    </div>
  );
}

function ChartCard({ instrument }: { readonly instrument: Instrument }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const offered = timeframesFrom(instrument.timeframes);
  const timeframe = offered.find((each) => each === search.timeframe) ?? chooseFirst(offered);
  const lastEnd = endOf(instrument);
  const put = (change: typeof search) =>
    void navigate({ search: { ...search, ...change }, replace: true, resetScroll: false });
  if (timeframe === undefined || lastEnd === null || instrument.first === null) {
    return (
      <p className="rounded-lg border border-line bg-surface px-4 py-16 text-center text-muted">
        The archive holds no candles of this instrument yet. They come with its next ingestion, or with a run that needs
        them.
      </p>
    );
  }
  const until = search.until === undefined ? NaN : Date.parse(search.until) + DAY_MS;
  const end = Number.isNaN(until) ? lastEnd : Math.min(lastEnd, Math.max(until, Date.parse(instrument.first) + DAY_MS));
  return (
    <section aria-label="Chart" className="rounded-lg border border-line bg-surface">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-3 py-1.5">
        <div role="group" aria-label="Timeframe" className="flex flex-wrap gap-0.5">
          {offered.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === timeframe}
              onClick={() => put({ timeframe: each })}
              className="h-7 rounded-md px-2 text-sm text-muted hover:bg-sunken hover:text-text aria-pressed:bg-sunken aria-pressed:font-semibold aria-pressed:text-text"
            >
              {each}
            </button>
          ))}
        </div>
        <label className="ml-auto flex items-center gap-1.5 text-sm text-muted">
          Until
          <input
            type="date"
            value={formatDate(end - DAY_MS)}
            min={formatDate(instrument.first)}
            max={formatDate(instrument.last)}
            onChange={({ target }) => target.value !== "" && put({ until: target.value })}
            className="h-7 rounded-md border border-strong-line bg-surface px-1.5 text-text"
          />
        </label>
      </div>
      <Candles key={`${timeframe} ${end}`} instrument={instrument} timeframe={timeframe} end={end} />
    </section>
  );
}

function Candles({ instrument, timeframe, end }: {
  readonly instrument: Instrument;
  readonly timeframe: Timeframe;
  readonly end: number;
}) {
  const { symbol, exchange } = instrument;
  const { data, error, hasNextPage, fetchNextPage, isFetching } = useInfiniteQuery({
    queryKey: [...api.marketData.ticks.pathKey(), { symbol, exchange, timeframe, end }],
    queryFn: ({ pageParam }) => loadCandles(instrument, timeframe, pageParam),
    initialPageParam: end,
    getNextPageParam: ({ before }) => before,
    staleTime: Infinity,
  });
  const candles = useMemo(() => data?.pages.toReversed().flatMap((page) => page.candles) ?? [], [data]);
  const more = useRef<() => void>(() => {});
  useEffect(() => {
    more.current = () => hasNextPage && !isFetching && void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<PriceChart>(null);
  const [pointed, setPointed] = useState<Tick | null>(null);
  const theme = useShownTheme();
  useEffect(() => {
    if (container.current === null) return;
    const made = new PriceChart(container.current, { onCandle: setPointed, onNearStart: () => more.current() });
    chart.current = made;
    return () => made.close();
  }, []);
  useEffect(() => {
    if (candles.length > 0) chart.current?.setCandles(candles);
  }, [candles]);
  useEffect(() => chart.current?.repaint(), [theme]);
  const shown = pointed ?? candles.at(-1) ?? null;
  return (
    <>
      <CandleValues candle={shown} />
      <div className="relative">
        <div
          ref={container}
          role="img"
          aria-label={`Candles of ${symbol}, ${timeframe}`}
          className="h-[min(560px,70dvh)]"
        />
        {candles.length === 0 && (
          <p
            role="status"
            className="absolute inset-0 z-3 grid place-items-center bg-surface p-4 text-center text-muted"
          >
            {error ? describeError(error) : isFetching ? "Loading the candles …" : "There are no candles in this time."}
          </p>
        )}
      </div>
      <p className="flex flex-wrap gap-x-2 border-t border-line px-3 py-1 text-2xs text-muted">
        <span>{formatCount(candles.length)} candles loaded; move to the left for earlier ones.</span>
        <span>
          Times are UTC. Charts by{" "}
          <a className="underline" href="https://www.tradingview.com/" rel="noreferrer" target="_blank">TradingView</a>
          {" "}
          Lightweight Charts™.
        </span>
      </p>
    </>
  );
}

/** The values of the candle under the pointer, or of the last one. */
function CandleValues({ candle }: { readonly candle: Tick | null }) {
  const change = candle === null || candle.open === 0 ? null : candle.close / candle.open - 1;
  const items = [
    ["O", formatExact(candle?.open)],
    ["H", formatExact(candle?.high)],
    ["L", formatExact(candle?.low)],
    ["C", formatExact(candle?.close)],
    ["Volume", formatExact(candle?.volume)],
  ] as const;
  return (
    <div className="flex min-h-7 flex-wrap items-center gap-x-3 px-3 py-1 text-xs">
      <Legend time={candle?.timestamp ?? null} items={items} />
      <p className={toneClass(change)}>{formatPercent(change, true)}</p>
    </div>
  );
}

/** Hours are a good first look where there are any. */
function chooseFirst(offered: readonly Timeframe[]): Timeframe | undefined {
  return offered.find((each) => each === "1h") ?? offered[0];
}
