import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { api, type Comparison, describeError } from "../../api.ts";
import { formatMoney } from "../../parts/format.ts";
import { ComparedDifferences } from "./compared_differences.tsx";
import { ComparedMetrics } from "./compared_metrics.tsx";
import { CurvesCard } from "./curves_card.tsx";
import { RunPicker } from "./run_picker.tsx";
import { Swatch } from "./swatch.tsx";

const route = getRouteApi("/signed-in/compare");
const POINTS = 1_000;
const RUNS_MIN = 2;

/** Two to five runs side by side, from where all have begun. */
export function ComparePage() {
  const { ids = "" } = route.useSearch();
  const list = ids.split(",").filter((id) => id !== "");
  const isEnough = list.length >= RUNS_MIN;
  const { data, error, isPending } = useQuery(
    api.backtests.compare.queryOptions({ ids: list, points: POINTS }, {
      enabled: isEnough,
      placeholderData: keepPreviousData,
      staleTime: Infinity,
    }),
  );
  return (
    <div className="flex flex-col gap-3">
      <h1 className="text-xl font-semibold">Compare</h1>
      {!isEnough
        ? <RunPicker />
        : error
        ? <Refusal text={describeError(error)} />
        : isPending || data === undefined
        ? <p role="status" className="py-24 text-center text-muted">Loading the runs …</p>
        : <Compared data={data} />}
    </div>
  );
}

function Compared({ data }: { readonly data: Comparison }) {
  return (
    <>
      <RunList data={data} />
      <CurvesCard curves={data.curves} />
      <ComparedMetrics data={data} />
      <ComparedDifferences data={data} />
    </>
  );
}

/** The runs with the marks of their curves. */
function RunList({ data: { backtests } }: { readonly data: Comparison }) {
  const navigate = route.useNavigate();
  const leave = (id: string) =>
    void navigate({ search: { ids: backtests.flatMap((each) => each.id === id ? [] : [each.id]).join(",") } });
  return (
    <ul aria-label="Runs" className="grid gap-2 md:grid-cols-2 xl:grid-cols-3">
      {backtests.map((
        { id, strategy, name, symbol, exchange, timeframe, start_date, end_date, initial_balance },
        i,
      ) => (
        <li key={id} className="flex min-w-0 items-start gap-2 rounded-lg border border-line bg-surface px-3 py-2">
          <Swatch index={i} />
          <div className="min-w-0 grow">
            <Link
              to="/runs/$id"
              params={{ id }}
              title={name ?? strategy}
              className="block truncate font-medium hover:underline"
            >
              {name ?? strategy}
            </Link>
            <p className="truncate text-sm text-muted" title={`${symbol} on ${exchange}`}>
              {symbol} {exchange} · {timeframe} · {formatMoney(initial_balance)}
            </p>
            <p className="text-sm text-muted">{start_date} to {end_date}</p>
          </div>
          {backtests.length > RUNS_MIN && (
            <button
              type="button"
              aria-label={`Leave out run ${i + 1}`}
              onClick={() => leave(id)}
              className="size-6 rounded-md text-muted hover:bg-sunken hover:text-text"
            >
              ✕
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function Refusal({ text }: { readonly text: string }) {
  return (
    <div role="alert" className="rounded-lg border border-line bg-surface px-4 py-12 text-center text-muted">
      <p className="break-words">{text}</p>
      <Link to="/compare" search={{}} className="mt-3 inline-block text-accent underline">Choose other runs</Link>
    </div>
  );
}
