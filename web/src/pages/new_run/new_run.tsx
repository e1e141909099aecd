import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api, codeOf, describeError } from "../../api.ts";
import { NewRunForm } from "./new_run_form.tsx";
import { chooseEntry, chooseInline, type Chosen, findSample } from "./run_form.ts";

const FIRST_STRATEGY = "sma-cross";
const LIST_MAX = 100;
const route = getRouteApi("/signed-in/runs/new");

/** A form for a new run, or for an earlier one with changes. */
export function NewRunPage() {
  const { from, strategy } = route.useSearch();
  const { first, held, earlier, note, error } = useStart(from, strategy);
  return (
    <div className="mx-auto max-w-6xl">
      <h1 className="text-xl font-semibold">{from === undefined ? "New run" : "Run again with changes"}</h1>
      <p className="mt-0.5 mb-3 min-h-5 text-sm break-words text-muted">
        {note ?? "Replay a strategy over past candles. Everything is filled in for a first run on the sample."}
      </p>
      {first === undefined
        ? (
          <p role={error ? "alert" : "status"} className="py-24 text-center text-muted">
            {error ? describeError(error) : "Loading what can be run …"}
          </p>
        )
        : <NewRunForm key={`${from} ${strategy}`} first={first} held={held} earlier={earlier} />}
    </div>
  );
}

/** Reads what the form begins with. @param from The id of a run to repeat. @param slug A strategy to begin with. */
function useStart(from: string | undefined, slug: string | undefined) {
  const run = useQuery(
    api.backtests.get.queryOptions({ id: from ?? "" }, { enabled: from !== undefined, staleTime: Infinity }),
  );
  const earlier = from === undefined ? undefined : run.data?.backtest;
  const wanted = earlier === undefined ? slug ?? FIRST_STRATEGY : earlier.strategy_slug;
  const isKnown = from === undefined || earlier !== undefined;
  const entry = useQuery(
    api.strategies.get.queryOptions({ slug: wanted ?? FIRST_STRATEGY }, { enabled: isKnown && wanted !== null }),
  );
  const isGone = codeOf(entry.error) === "STRATEGY_NOT_FOUND";
  const fallback = useQuery(api.strategies.get.queryOptions({ slug: FIRST_STRATEGY }, { enabled: isGone }));
  const instruments = useQuery(api.marketData.instruments.queryOptions({ limit: LIST_MAX }));
  const error = run.error ?? (isGone ? fallback.error : entry.error) ?? instruments.error;
  const first = !isKnown || instruments.data === undefined
    ? undefined
    : earlier !== undefined && wanted === null
    ? chooseInline(earlier)
    : choose(entry.data ?? (isGone ? fallback.data : undefined), entry.data && earlier);
  return {
    first,
    held: findSample(instruments.data?.instruments ?? []),
    earlier,
    note: isGone
      ? `The strategy ${earlier?.strategy ?? slug} is not in the catalogue any more. Choose another one.`
      : earlier &&
        `From the run of ${earlier.strategy} on ${earlier.symbol}, ${earlier.start_date} to ${earlier.end_date}.`,
    error,
  };
}

function choose(
  data: { readonly strategy: Parameters<typeof chooseEntry>[0] } | undefined,
  earlier: Parameters<typeof chooseEntry>[1],
): Chosen | undefined {
  return data && chooseEntry(data.strategy, earlier);
}
