import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { api, client, describeError, type Gap, type Instrument, pagesOf } from "../../api.ts";
import type { Timeframe } from "../../parts/candle_timeframes.ts";
import { formatCount, formatDate, formatSpan, formatTime } from "../../parts/format.ts";
import { DAY_MS, linear } from "../../parts/scale.ts";

const route = getRouteApi("/signed-in/data/$exchange/$symbol");
const LISTED = 8;
// A gap of minutes in years is still seen.
const WIDTH_MIN = 0.15;

/** The stored candles of an instrument along its time: a line for each timeframe, with its gaps; a click on one shows it in the chart. */
export function HeldTimeline({ instrument }: { readonly instrument: Instrument }) {
  const { first, last, timeframes } = instrument;
  if (first === null || last === null) return null;
  return (
    <section aria-label="Held candles" className="rounded-lg border border-line bg-surface p-3">
      <div className="mb-2 flex flex-wrap items-baseline gap-x-4">
        <h2 className="mr-auto font-semibold">Held candles</h2>
        <p className="text-xs text-muted">Gaps are times without candles in which trade was to be expected.</p>
      </div>
      <div className="flex flex-col gap-4">
        {timeframes.map((each) => <Line key={each} instrument={instrument} timeframe={each} />)}
      </div>
    </section>
  );
}

function Line({ instrument, timeframe }: { readonly instrument: Instrument; readonly timeframe: Timeframe }) {
  const navigate = route.useNavigate();
  const { held, gaps, count, isLoading, error } = useGaps(instrument, timeframe);
  const show = ({ end }: Gap) =>
    void navigate({ search: { timeframe, until: formatDate(Date.parse(end) + DAY_MS) }, resetScroll: true });
  const longest = gaps.toSorted((a, b) => spanOf(b) - spanOf(a)).slice(0, LISTED);
  const said = error
    ? describeError(error)
    : isLoading
    ? `${formatCount(count)} gaps so far …`
    : count === 0
    ? "no gaps"
    : `${formatCount(count)} ${count === 1 ? "gap" : "gaps"}`;
  return (
    <div>
      <div className="flex flex-wrap justify-between gap-x-4 text-sm">
        <p>
          <span className="font-medium">{timeframe}</span>{" "}
          <span className="text-muted">
            {formatDate(held?.start ?? null)} to {formatDate(held && Date.parse(held.end) - 1)}
          </span>
        </p>
        <p role="status" className={count === 0 ? "text-muted" : "text-warn"}>{said}</p>
      </div>
      <Bar instrument={instrument} held={held} gaps={gaps} label={`${timeframe}: ${said}`} />
      {longest.length > 0 && (
        <ul className="mt-1 flex flex-wrap gap-x-1 gap-y-0.5 text-xs" aria-label={`Longest gaps of ${timeframe}`}>
          {longest.map((gap) => (
            <li key={gap.start}>
              <button
                type="button"
                title="Show it in the chart"
                onClick={() => show(gap)}
                className="rounded px-1.5 py-1 text-muted hover:bg-sunken hover:text-text"
              >
                {formatTime(gap.start)} <span className="text-warn">{formatSpan(spanOf(gap))}</span>
              </button>
            </li>
          ))}
          {count > longest.length && (
            <li className="px-1.5 py-1 text-muted">and {formatCount(count - longest.length)} shorter ones</li>
          )}
        </ul>
      )}
    </div>
  );
}

function Bar({ instrument: { first, last }, held, gaps, label }: {
  readonly instrument: Instrument;
  readonly held: Gap | null;
  readonly gaps: readonly Gap[];
  readonly label: string;
}) {
  const x = linear([Date.parse(first ?? ""), Date.parse(last ?? "")], [0, 100]);
  const place = ({ start, end }: Gap, widthMin = 0) => ({
    x: `${x(Date.parse(start))}%`,
    width: `${Math.max(widthMin, x(Date.parse(end)) - x(Date.parse(start)))}%`,
  });
  return (
    <svg role="img" aria-label={label} className="mt-1 h-4 w-full overflow-hidden rounded bg-sunken">
      {held && <rect {...place(held)} height="100%" className="fill-accent/45" />}
      {gaps.map((gap) => (
        <rect key={gap.start} {...place(gap, WIDTH_MIN)} height="100%" className="fill-warn">
          <title>{`${formatTime(gap.start)} to ${formatTime(gap.end)} UTC, ${formatSpan(spanOf(gap))}`}</title>
        </rect>
      ))}
    </svg>
  );
}

/** All gaps of a series, a part after another. */
function useGaps({ symbol, exchange, candles }: Instrument, timeframe: Timeframe) {
  const input = { symbol, exchange, timeframe };
  const { data, error, hasNextPage, isFetching, isPending, fetchNextPage } = useInfiniteQuery({
    ...pagesOf(
      [...api.marketData.gaps.pathKey(), input, candles],
      (cursor) => client.marketData.gaps.query({ ...input, ...cursor }),
    ),
    staleTime: Infinity,
  });
  useEffect(() => {
    if (hasNextPage && !isFetching && error === null) void fetchNextPage();
  }, [hasNextPage, isFetching, error, fetchNextPage]);
  const pages = data?.pages ?? [];
  return {
    held: pages[0]?.held ?? null,
    gaps: pages.flatMap((page) => page.gaps),
    count: pages.reduce((sum, page) => sum + page.count, 0),
    isLoading: isPending || hasNextPage,
    error,
  };
}

function spanOf({ start, end }: Gap): number {
  return Date.parse(end) - Date.parse(start);
}
