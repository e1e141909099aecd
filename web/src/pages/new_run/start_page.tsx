import { type ComponentType, useMemo } from "react";
import { api, codeOf, describeError } from "../../api.ts";
import { readDraft } from "../../parts/draft.ts";
import { isRecord } from "../../parts/parameter_fields.ts";
import type { DraftedStart } from "./use_run_form.ts";
import { useQuery } from "@tanstack/react-query";
import { chooseEntry, chooseInline, type Chosen, type Earlier, findSample } from "./run_form.ts";

/** An optimization to begin with. */
export interface Origin {
  /** Undefined until it has arrived. */
  readonly earlier: Earlier | undefined;
  readonly note: string;
  readonly error: unknown;
}

/** A page with a form that begins with an earlier run or a strategy. @param note Stands below the title of a form that begins with neither. */
export function StartPage({ title, note, search: { from, strategy, universe, market }, origin, draft, form: Form }: {
  readonly title: string;
  readonly note: string;
  readonly search: {
    readonly from?: string | undefined;
    readonly strategy?: string | undefined;
    readonly universe?: string | undefined;
    readonly market?: string | undefined;
  };
  /** Comes before what the search names. */
  readonly origin?: Origin | undefined;
  /** The kind of its drafts. */
  readonly draft: string;
  readonly form: ComponentType<DraftedStart>;
}) {
  const draftName = [draft, from, strategy, universe, ...(market === undefined ? [] : [market])].join(" ");
  const start = useStart({ from, strategy, universe, market, draftName, origin });
  const { first, held, earlier, note: begun, error } = start;
  return (
    <div className="mx-auto max-w-6xl">
      <h1 className="text-xl font-semibold">{title}</h1>
      <p className="mt-0.5 mb-3 min-h-5 text-sm break-words text-muted">{begun ?? note}</p>
      {first === undefined
        ? (
          <p role={error ? "alert" : "status"} className="py-24 text-center text-muted">
            {error ? describeError(error) : "Loading what can be run …"}
          </p>
        )
        : (
          <Form
            key={draftName}
            draftName={draftName}
            first={first}
            held={held}
            earlier={earlier}
            universe={universe}
          />
        )}
    </div>
  );
}

const FIRST_STRATEGY = "sma-cross";
const LIST_MAX = 100;

/** The start of a form, from its address. */
interface Start {
  /** The id of a run to repeat. */
  readonly from?: string | undefined;
  /** The slug of a strategy to begin with. */
  readonly strategy?: string | undefined;
  readonly universe?: string | undefined;
  /** An instrument to run on, such as `SPY@ARCA`. */
  readonly market?: string | undefined;
  /** The strategy of a draft comes before the others. */
  readonly draftName: string;
  readonly origin: Origin | undefined;
}

/** Reads what the form begins with. */
function useStart({ from, strategy: slug, universe, market, draftName, origin }: Start) {
  const drafted = useMemo(() => draftedStrategy(draftName), [draftName]);
  const run = useQuery(
    api.backtests.get.queryOptions({ id: from ?? "" }, { enabled: from !== undefined, staleTime: Infinity }),
  );
  const earlier = origin !== undefined ? origin.earlier : from === undefined ? undefined : run.data?.backtest;
  const own = earlier === undefined ? slug ?? FIRST_STRATEGY : earlier.strategy_slug;
  const wanted = drafted ?? own;
  const isKnown = (from === undefined && origin === undefined) || earlier !== undefined;
  const entry = useQuery(
    api.strategies.get.queryOptions({ slug: wanted ?? FIRST_STRATEGY }, { enabled: isKnown && wanted !== null }),
  );
  const isGone = codeOf(entry.error) === "STRATEGY_NOT_FOUND";
  const fallback = useQuery(api.strategies.get.queryOptions({ slug: FIRST_STRATEGY }, { enabled: isGone }));
  const instruments = useQuery(api.marketData.instruments.queryOptions({ limit: LIST_MAX }));
  const member = useFirstMember(universe);
  const named = useHeld(market);
  const error = origin?.error ?? run.error ?? (isGone ? fallback.error : entry.error) ?? instruments.error;
  const first = !isKnown || instruments.data === undefined || member.isLoading || named.isLoading
    ? undefined
    : earlier !== undefined && wanted === null
    ? chooseInline(earlier)
    : choose(entry.data ?? (isGone ? fallback.data : undefined), wanted === own && entry.data ? earlier : undefined);
  return {
    first,
    held: member.instrument ?? named.instrument ?? findSample(instruments.data?.instruments ?? []),
    earlier,
    note: isGone
      ? `The strategy ${drafted ?? earlier?.strategy ?? slug} is not in the catalogue any more. Choose another one.`
      : origin?.note ?? (earlier &&
        `From the run of ${earlier.strategy} on ${earlier.symbol}, ${earlier.start_date} to ${earlier.end_date}.`),
    error,
  };
}

function draftedStrategy(draftName: string): string | undefined {
  const draft = readDraft(draftName);
  const slug = isRecord(draft) ? draft["strategy"] : undefined;
  return typeof slug === "string" && slug !== "" ? slug : undefined;
}

/** The first member of a universe as the archive has it: with it, a run over the universe finds candles of its dates. */
function useFirstMember(name = "") {
  const [slug = "", version] = name.split("@");
  const input = { slug, limit: 1, ...(version === undefined ? {} : { version: Number(version) }) };
  const members = useQuery(api.universes.members.queryOptions(input, { enabled: slug !== "" }));
  const [member] = members.data?.members ?? [];
  const found = useHeld(member && `${member.symbol}@${member.exchange}`);
  return { instrument: found.instrument, isLoading: members.isLoading || found.isLoading };
}

/** The instrument of a name such as `SPY@ARCA`; undefined where the archive has no candles of it. */
function useHeld(name = "") {
  const at = name.lastIndexOf("@");
  const [symbol, exchange] = [name.slice(0, Math.max(0, at)), name.slice(at + 1)];
  const found = useQuery(api.marketData.instruments.queryOptions(
    { limit: LIST_MAX, search: symbol },
    { enabled: symbol !== "" },
  ));
  const instrument = found.data?.instruments.find((each) =>
    each.symbol === symbol && each.exchange === exchange && each.first !== null
  );
  return { instrument, isLoading: found.isLoading };
}

function choose(
  data: { readonly strategy: Parameters<typeof chooseEntry>[0] } | undefined,
  earlier: Parameters<typeof chooseEntry>[1],
): Chosen | undefined {
  return data && chooseEntry(data.strategy, earlier);
}
