import { useQuery } from "@tanstack/react-query";
import { api, codeOf } from "../../api.ts";
import { chooseEntry, chooseInline, type Chosen, findSample } from "./run_form.ts";

const FIRST_STRATEGY = "sma-cross";
const LIST_MAX = 100;

/** Reads what the form begins with. @param from The id of a run to repeat. @param slug A strategy to begin with. */
export function useStart(from: string | undefined, slug: string | undefined) {
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
