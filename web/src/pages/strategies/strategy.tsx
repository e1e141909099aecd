import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, codeOf, describeError, type Strategy } from "../../api.ts";
import { Button, buttonClass } from "../../parts/button.tsx";
import { Failure, NotFound } from "../../parts/failure.tsx";
import { formatCount, formatDate } from "../../parts/format.ts";
import { describeBounds, fieldsOf, type ParameterField } from "../../parts/parameter_fields.ts";
import { EditStrategy } from "./edit_strategy.tsx";
import { NewVersion } from "./new_version.tsx";
import { describeRuntime, isReadable, VisibilityBadge } from "./strategy_words.tsx";
import { Versions } from "./versions.tsx";
import { DeleteButton } from "../../parts/delete_button.tsx";
import { useStrategyUpdate } from "./use_strategy_update.ts";

const route = getRouteApi("/signed-in/strategies/$slug");
const PANEL = "min-w-0 rounded-lg border border-line bg-surface p-4";

/** One strategy: what it does, its parameters and versions, and what its owner can do with it. */
export function StrategyPage() {
  const { slug } = route.useParams();
  const { data, error, refetch } = useQuery(api.strategies.get.queryOptions({ slug }));
  if (data === undefined) {
    if (codeOf(error) === "STRATEGY_NOT_FOUND") return <NotFound />;
    if (error) return <Failure error={error} reset={() => void refetch()} />;
    return <p role="status" className="py-24 text-center text-muted">Loading the strategy …</p>;
  }
  return <Shown key={slug} strategy={data.strategy} />;
}

function Shown({ strategy }: { readonly strategy: Strategy }) {
  const { slug } = strategy;
  const [open, setOpen] = useState<"edit" | "version" | null>(null);
  return (
    <div className="mx-auto flex max-w-6xl flex-col gap-4">
      <header className="flex flex-wrap items-start gap-x-6 gap-y-2">
        <div className="min-w-0 grow basis-80">
          <p className="text-sm text-muted">
            <Link to="/strategies" className="text-accent underline">Strategies</Link>
          </p>
          <h1 className="text-xl font-semibold break-words">{strategy.name}</h1>
          <p className="mt-0.5 flex flex-wrap gap-x-2 text-sm text-muted">
            <span className="break-all">{slug}</span>
            <span>·</span>
            <VisibilityBadge strategy={strategy} />
          </p>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          {strategy.is_owner && (
            <>
              <Button onClick={() => setOpen(open === "edit" ? null : "edit")} aria-expanded={open === "edit"}>
                Edit
              </Button>
              <Button onClick={() => setOpen(open === "version" ? null : "version")} aria-expanded={open === "version"}>
                New version
              </Button>
              <OwnerActions strategy={strategy} />
            </>
          )}
          {strategy.runtime_type === "script" && isReadable(strategy) && (
            <Link to="/strategies" search={{ add: "script", from: slug }} className={buttonClass()}>
              Start from this one
            </Link>
          )}
          <Link to="/runs/new" search={{ strategy: slug }} className={buttonClass("primary")}>Run it</Link>
        </div>
      </header>
      {open === "edit" && (
        <EditStrategy
          strategy={strategy}
          onDone={() => setOpen((now) => now === "edit" ? null : now)}
        />
      )}
      {open === "version" && (
        <NewVersion
          strategy={strategy}
          onDone={() => setOpen((now) => now === "version" ? null : now)}
        />
      )}
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <section className={PANEL}>
          <h2 className="font-semibold">Description</h2>
          <p className="mt-1 break-words whitespace-pre-wrap text-muted">
            {strategy.description || "Its author has written none."}
          </p>
        </section>
        <Facts strategy={strategy} />
      </div>
      <ParameterTable fields={fieldsOf(strategy)} />
      <Versions strategy={strategy} />
    </div>
  );
}

function Facts({ strategy }: { readonly strategy: Strategy }) {
  const rows = [
    ["Runs as", describeRuntime(strategy)],
    ["Version", strategy.latest_version],
    ["Default timeframe", strategy.default_frequency.toLowerCase()],
    ["Least candles", formatCount(strategy.min_candles)],
    ["Candles before the start", formatCount(strategy.lookback_candles)],
    ...(strategy.created_at === null ? [] : [
      ["Registered", formatDate(strategy.created_at)],
      ["Changed", formatDate(strategy.updated_at)],
    ]),
  ];
  return (
    <section className={PANEL}>
      <h2 className="font-semibold">Facts</h2>
      <dl className="mt-1 text-sm">
        {rows.map(([name, value]) => (
          <div key={name} className="flex justify-between gap-6 border-b border-line/60 py-1 last:border-0">
            <dt className="shrink-0 text-muted">{name}</dt>
            <dd className="min-w-0 text-right break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function ParameterTable({ fields }: { readonly fields: readonly ParameterField[] }) {
  return (
    <section className={PANEL}>
      <h2 className="font-semibold">Parameters</h2>
      {fields.length === 0
        ? <p className="mt-1 text-muted">It has none.</p>
        : (
          <div className="mt-1 overflow-x-auto" tabIndex={0} role="region" aria-label="Parameters">
            <table className="w-full min-w-[40rem] text-left text-sm">
              <thead className="text-xs text-muted">
                <tr>
                  {["Name", "Default", "Values", "Meaning"].map((heading) => (
                    <th key={heading} scope="col" className="border-b border-line py-2 pr-4 font-medium">{heading}</th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {fields.map((field) => (
                  <tr key={field.name} className="border-b border-line/60 align-top last:border-0">
                    <th scope="row" className="max-w-64 min-w-28 py-1.5 pr-4 font-medium wrap-anywhere">
                      {field.name}
                    </th>
                    <td className="max-w-48 py-1.5 pr-4 break-words">
                      {field.default === undefined ? "–" : JSON.stringify(field.default)}
                    </td>
                    <td className="max-w-64 min-w-32 py-1.5 pr-4 break-words">{describeValues(field)}</td>
                    <td className="py-1.5 break-words text-muted">{field.description}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
    </section>
  );
}

function describeValues(field: ParameterField): string {
  if (field.choices !== null) return field.choices.map((choice) => JSON.stringify(choice)).join(", ");
  return describeBounds({ ...field, default: undefined }) || field.types.join(" or ") || "any";
}

/** The owner's actions: who sees the strategy, and its end. */
function OwnerActions({ strategy }: { readonly strategy: Strategy }) {
  const { slug, is_public, source_access, runtime_type } = strategy;
  const update = useStrategyUpdate(slug);
  const isOpen = source_access === "open";
  return (
    <>
      <p role={update.error ? "alert" : "status"} className="text-sm text-danger empty:hidden">
        {update.error ? describeError(update.error) : ""}
      </p>
      <Button
        disabled={update.isPending}
        onClick={() => update.mutate({ slug, strategy: { is_public: !is_public } })}
      >
        {is_public ? "Make private" : "Make public"}
      </Button>
      {is_public && runtime_type !== "remote" && (
        <Button
          disabled={update.isPending}
          onClick={() => update.mutate({ slug, strategy: { source_access: isOpen ? "hidden" : "open" } })}
        >
          {isOpen ? "Hide the source" : "Open the source"}
        </Button>
      )}
      <DeleteStrategy slug={slug} />
    </>
  );
}

function DeleteStrategy({ slug }: { readonly slug: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation(api.strategies.delete.mutationOptions({
    onSuccess: async () => {
      await navigate({ to: "/strategies" });
      queries.removeQueries({ queryKey: api.strategies.get.queryKey({ slug }) });
      await queries.invalidateQueries({ queryKey: api.strategies.summaries.pathKey() });
    },
  }));
  return (
    <DeleteButton
      title="Delete this strategy?"
      text="It is deleted with all its versions. Results of its runs stay. This cannot be undone."
      label="Delete strategy"
      removal={remove}
      onConfirm={() => remove.mutate({ slug })}
    />
  );
}
