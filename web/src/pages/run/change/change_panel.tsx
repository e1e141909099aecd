import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import type { UseFormReturn } from "react-hook-form";
import { api, type Backtest, type BacktestRequest, describeError } from "../../../api.ts";
import { Button } from "../../../parts/button.tsx";
import { formatCount } from "../../../parts/format.ts";
import { hasEnded, useBacktest } from "../../../parts/use_backtest.ts";
import { useTrials } from "../../../parts/use_trials.ts";
import { EXECUTION_FIELDS } from "../../new_run/execution_fields.ts";
import { Rule } from "../../new_run/execution_section.tsx";
import { chooseEntry, chooseInline, type Chosen, type RunForm, toSubmission } from "../../new_run/run_form.ts";
import { Parameter } from "../../new_run/strategy_section.tsx";
import { useRunForm } from "../../new_run/use_run_form.ts";
import { POINTS } from "../chart/run_bars.ts";
import { TRY_TAG } from "../../runs/runs_search.ts";
import { isRecord, type ParameterField, toField } from "../../../parts/parameter_fields.ts";

/** A pause in typing, after which the run is made. */
const PAUSE_MS = 500;
const NAME_LENGTH_MAX = 200;
const COSTS = /^(commission\.|spread$|slippage\.)/;

interface ChangeProps {
  readonly backtest: Backtest;
  /** The run of the last change; undefined while the saved one is shown. */
  readonly tried: Backtest | undefined;
  /** Called with a change and its words. */
  readonly onTried: (tried: Backtest | undefined, words: string) => void;
}

const WORDS_MAX = 120;

// A slider reaches from a quarter of a value to four times of it, within the parameter's bounds.
const REACH = 4;
const STEPS = 100;

/** The parameters and costs of a run; a change of one runs it again, and the page follows. */
export function ChangePanel(props: ChangeProps) {
  const { backtest } = props;
  const slug = backtest.strategy_slug;
  const { data, error } = useQuery(
    api.strategies.get.queryOptions({ slug: slug ?? "" }, { enabled: slug !== null, staleTime: Infinity }),
  );
  const chosen = slug === null ? chooseInline(backtest) : data && chooseSame(data.strategy, backtest);
  return (
    <section
      aria-label="Change and see"
      className="min-w-0 rounded-lg border border-line bg-surface p-3 max-sm:order-2"
    >
      {error !== null && <p role="alert" className="text-sm break-words text-danger">{describeError(error)}</p>}
      {chosen === undefined
        ? error === null && <p role="status" className="text-sm text-muted">Loading the settings …</p>
        : <ChangeForm {...props} chosen={chosen} />}
    </section>
  );
}

/** The strategy of the run, in its version. A built-in one has a single version. */
function chooseSame(entry: Parameters<typeof chooseEntry>[0], backtest: Backtest): Chosen {
  const chosen = chooseEntry(entry, backtest);
  const version = entry.source === "builtin" ? null : backtest.strategy_version;
  return version === null ? chosen : { ...chosen, runtime: { ...chosen.runtime, version } };
}

function ChangeForm({ backtest, tried, onTried, chosen }: ChangeProps & { readonly chosen: Chosen }) {
  const { form } = useRunForm({ first: chosen, held: undefined, earlier: backtest });
  const { id, refusal, isStarting, start } = useTrials();
  const [isSaved, setSaved] = useState(true);
  const [tries, setTries] = useState(0);
  const [fault, setFault] = useState("");
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  const saved = useRef(toSubmission(form.getValues(), chosen, backtest));
  /** The last try: what is typed may have changed since. */
  const sent = useRef(saved.current);
  const run = async () => {
    if (!(await form.trigger())) return;
    const request = toSubmission(form.getValues(), chosen, backtest);
    const isSame = settingsChanged(saved.current, request) === "";
    setSaved(isSame);
    setFault("");
    if (isSame) return onTried(undefined, "");
    setTries((count) => count + 1);
    sent.current = request;
    start({ ...request, tags: [TRY_TAG] });
  };
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const { unsubscribe } = form.watch(() => {
      clearTimeout(pause.current);
      pause.current = setTimeout(() => void latest.current(), PAUSE_MS);
    });
    return () => {
      clearTimeout(pause.current);
      unsubscribe();
    };
  }, [form]);
  const isShown = !isStarting && refusal === "" && tried?.id === id;
  const isWaiting = !isSaved && fault === "" && refusal === "" && !isShown;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        clearTimeout(pause.current);
        void run();
      }}
    >
      <p role="status" className="min-h-5 text-sm text-muted">
        {isSaved
          ? "These are the settings of the saved run."
          : isWaiting
          ? "Running …"
          : tried && "The page shows the change."}
      </p>
      <p role="alert" className="text-sm break-words text-danger">{refusal || fault}</p>
      {!isSaved && id !== undefined && (
        <Follow
          key={id}
          id={id}
          onEnd={(ended) =>
            ended.result === null
              ? setFault(ended.error?.message ?? "The run has no result.")
              : onTried(ended, settingsChanged(saved.current, ended))}
        />
      )}
      <div className="mt-2 flex flex-wrap gap-2">
        <Button disabled={isSaved} onClick={() => form.reset()}>Back to the saved run</Button>
        {tried !== undefined && isShown && !isSaved && (
          <Keep
            backtest={backtest}
            tried={tried}
            words={() => settingsChanged(saved.current, sent.current)}
          />
        )}
      </div>
      <p className="mt-2 text-xs text-muted">
        {tries === 0
          ? "A change runs after a pause in typing."
          : `${formatCount(tries)} ${tries === 1 ? "try" : "tries"} since you opened this.`}{" "}
        Each is a run of yours with the tag{" "}
        <Link to="/runs" search={{ tag: TRY_TAG }} className="text-accent underline">{TRY_TAG}</Link>, and counts among
        your tries, kept or not.
      </p>
      <div className="mt-3 border-t border-line pt-2 lg:max-h-[29rem] lg:overflow-y-auto lg:pr-2">
        {chosen.fields.map((field, i) => (
          <div key={field.name}>
            <Parameter form={form} field={field} index={i} />
            <Slider form={form} field={field} index={i} start={backtest.parameters[field.name] ?? field.default} />
          </div>
        ))}
        <h2 className="mt-1 mb-1 border-t border-line pt-2 text-sm font-semibold">Costs</h2>
        {EXECUTION_FIELDS.filter(({ key }) => COSTS.test(key)).map((field) => (
          <Rule key={field.key} form={form} field={field} profile={form.getValues("profile")} />
        ))}
      </div>
    </form>
  );
}

/** Waits for the end of a run, and then for what the page draws, so that nothing is empty meanwhile. */
function Follow({ id, onEnd }: { readonly id: string; readonly onEnd: (ended: Backtest) => void }) {
  const queries = useQueryClient();
  const { data } = useBacktest(id);
  const latest = data?.backtest;
  useEffect(() => {
    if (latest === undefined || !hasEnded(latest)) return;
    let isCurrent = true;
    // An equal run's result is there at once, without the count of tries around it.
    if (latest.trials === undefined) void queries.invalidateQueries({ queryKey: api.backtests.get.queryKey({ id }) });
    const drawn = { id, points: POINTS };
    void Promise.all(
      latest.result === null ? [] : [
        queries.prefetchQuery(api.backtests.chart.queryOptions(drawn, { staleTime: Infinity })),
        queries.prefetchQuery(api.backtests.series.queryOptions(drawn, { staleTime: Infinity })),
        queries.prefetchQuery(api.backtests.tradeSpread.queryOptions({ id }, { staleTime: Infinity })),
      ],
    ).then(() => isCurrent && onEnd(latest));
    return () => {
      isCurrent = false;
    };
  }, [latest]);
  return null;
}

/** Makes the last try a run of its own, named after its changes. */
function Keep({ backtest: { name, strategy }, tried: { id }, words }: {
  readonly backtest: Backtest;
  readonly tried: Backtest;
  readonly words: () => string;
}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const keep = useMutation(api.backtests.update.mutationOptions({
    onSuccess: async (data) => {
      queries.setQueryData(api.backtests.get.queryKey({ id }), data);
      void queries.invalidateQueries({ queryKey: api.backtests.summaries.pathKey() });
      await navigate({ to: "/runs/$id", params: { id }, search: {} });
    },
  }));
  return (
    <>
      <Button
        kind="primary"
        disabled={keep.isPending}
        onClick={() =>
          keep.mutate({
            id,
            backtest: { name: `${name ?? strategy}: ${words()}`.slice(0, NAME_LENGTH_MAX), tags: [] },
          })}
      >
        Keep
      </Button>
      {keep.error !== null && <p role="alert" className="text-sm text-danger">{describeError(keep.error)}</p>}
    </>
  );
}

/** The settings of a run that are not those of another, in words: `fast 12, commission.rate 0.001`. */
function settingsChanged(before: BacktestRequest, now: Pick<BacktestRequest, "parameters">): string {
  const old = new Map(flatten(before.parameters ?? {}, ""));
  const changed = [...flatten(now.parameters ?? {}, "")].filter(([name, value]) => old.get(name) !== value);
  const words = changed.map(([name, value]) => `${name.replace(/^execution\./, "")} ${value}`).join(", ");
  return words.length <= WORDS_MAX ? words : `${words.slice(0, WORDS_MAX - 1)}…`;
}

function* flatten(values: Readonly<Record<string, unknown>>, before: string): Generator<[name: string, value: string]> {
  for (const [key, value] of Object.entries(values)) {
    if (isRecord(value)) yield* flatten(value, `${before}${key}.`);
    else yield [`${before}${key}`, String(toField(value))];
  }
}

/** A slider for a number; nothing for other parameters, and for a number that begins at 0 and has no largest value. */
function Slider({ form, field, index, start }: {
  readonly form: UseFormReturn<RunForm>;
  readonly field: ParameterField;
  readonly index: number;
  readonly start: unknown;
}) {
  const { name, types, choices } = field;
  const isWhole = types.includes("integer");
  if (choices !== null || !(isWhole || types.includes("number")) || typeof start !== "number") return null;
  const { minimum, maximum } = field;
  const least = Math.max(minimum ?? -Infinity, start > 0 ? start / REACH : 0);
  const most = Math.min(maximum ?? Infinity, start > 0 ? start * REACH : maximum ?? 0);
  const [min, max] = isWhole ? [Math.floor(least), Math.ceil(most)] : [least, most];
  if (!(max > min)) return null;
  const step = isWhole ? 1 : Number(((max - min) / STEPS).toPrecision(1));
  const typed = Number(form.watch(`parameters.${index}`));
  return (
    <input
      type="range"
      aria-label={`${name}, slider`}
      className="mb-2 w-full accent-accent"
      {...{ min, max, step }}
      value={Number.isFinite(typed) ? typed : start}
      onChange={({ target }) =>
        form.setValue(`parameters.${index}`, String(Number(Number(target.value).toPrecision(6))), {
          shouldDirty: true,
          shouldValidate: true,
        })}
    />
  );
}
