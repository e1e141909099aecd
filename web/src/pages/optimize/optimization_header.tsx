import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, describeError, type Optimization } from "../../api.ts";
import { linkToken } from "../../link_token.ts";
import { Button, buttonClass } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete_button.tsx";
import { formatCount } from "../../parts/format.ts";
import { useReadOnly } from "../../parts/read_only.ts";
import { RunFacts } from "../../parts/run_facts.tsx";
import { ShareButton } from "../../parts/share_button.tsx";
import { StatusBadge } from "../../parts/status_badge.tsx";
import { useMetric } from "../../parts/metric_value.ts";
import { settingLabel } from "./setting_axes.ts";
import { hasEnded } from "../../parts/use_backtest.ts";

/** The question of an optimization, its status, and what can be done with it. */
export function OptimizationHeader({ optimization }: { readonly optimization: Optimization }) {
  const { id, name, strategy, objective, direction } = optimization;
  const metric = useMetric();
  const isReadOnly = useReadOnly();
  return (
    <header className="flex flex-wrap items-start gap-x-6 gap-y-2">
      <div className="min-w-0 grow basis-80">
        <div className="flex flex-wrap items-center gap-x-3">
          <h1 className="text-xl font-semibold wrap-anywhere">{name ?? strategy}</h1>
          <StatusBadge {...optimization} />
        </div>
        <RunFacts facts={optimization}>{direction === "max" ? "highest" : "lowest"} {metric(objective).label}</RunFacts>
        <p className="text-sm wrap-anywhere text-muted">{describeSpace(optimization)}</p>
      </div>
      {isReadOnly
        ? (
          <div className="flex flex-wrap gap-2">
            <TrialFiles id={id} />
          </div>
        )
        : <Actions optimization={optimization} id={id} />}
    </header>
  );
}

/** All trials as files, on the page of the optimization and on that of a link. */
function TrialFiles({ id }: { readonly id: string }) {
  const token = linkToken();
  const address = `${token === undefined ? `/api/optimizations/${id}` : `/api/shared/${token}`}/trials`;
  return (
    <>
      <a href={`${address}?format=csv`} download className={buttonClass()}>Trials, CSV</a>
      <a href={`${address}?format=arrow`} download className={buttonClass()}>Trials, Arrow</a>
    </>
  );
}

function Actions({ optimization, id }: { readonly optimization: Optimization; readonly id: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const cancel = useMutation(api.optimizations.cancel.mutationOptions({
    onSuccess: (data) => queries.setQueryData(api.optimizations.get.queryKey({ id }), data),
  }));
  const remove = useMutation(api.optimizations.delete.mutationOptions({
    onSuccess: async () => {
      await navigate({ to: "/optimizations" });
      queries.removeQueries({ queryKey: api.optimizations.get.queryKey({ id }) });
      await queries.invalidateQueries({ queryKey: api.optimizations.list.pathKey() });
    },
  }));
  return (
    <div className="flex flex-wrap items-center gap-2">
      {!hasEnded(optimization) && (
        <Button disabled={cancel.isPending} onClick={() => cancel.mutate({ id })}>Cancel</Button>
      )}
      {optimization.status === "completed" && <ShareButton subject={{ optimization_id: id }} noun="optimization" />}
      <TrialFiles id={id} />
      <DeleteButton
        title="Delete this optimization?"
        text="Its trials are deleted with it. Backtests that were made of them stay."
        label="Delete optimization"
        removal={remove}
        onConfirm={() => remove.mutate({ id })}
      />
      {cancel.error !== null && <p role="alert" className="text-sm text-danger">{describeError(cancel.error)}</p>}
    </div>
  );
}

/** `fast 5 to 20 by 1, slow 20 to 60 by 5; fast < slow; each of 12 markets by itself`. */
function describeSpace({ space, constraints, markets, parameters }: Optimization): string {
  const axes = Object.entries(space).map(([name, axis]) =>
    "values" in axis
      ? `${settingLabel(name)} ${axis.values.join(", ")}`
      : `${settingLabel(name)} ${axis.min} to ${axis.max} by ${axis.step}`
  );
  const { instruments, universe } = parameters;
  const over = Array.isArray(instruments)
    ? [`one account over ${formatCount(instruments.length)} instruments`]
    : typeof universe === "string"
    ? [`one account over ${universe}`]
    : [];
  const scanned = markets === null ? [] : [`each of ${formatCount(markets.count)} markets by itself`];
  return [axes.join(" · "), ...constraints, ...over, ...scanned].filter((words) => words !== "").join("; ");
}
