import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSubscription } from "@trpc/tanstack-react-query";
import { useState } from "react";
import { api, describeError, type MonteCarlo } from "../../../api.ts";
import { useConnectionLost } from "../../../connection.ts";
import { Button } from "../../../parts/button.tsx";
import { DeleteButton } from "../../../parts/delete_button.tsx";
import { formatCount, formatTime, writeTimes } from "../../../parts/format.ts";
import { ProgressBar } from "../../../parts/progress_bar.tsx";
import { useReadOnly } from "../../../parts/read_only.ts";
import { StatusBadge } from "../../../parts/status_badge.tsx";
import { hasEnded } from "../../../parts/use_backtest.ts";
import { useReopening } from "../../../parts/use_reopening.ts";
import { PathSample } from "./path_sample.tsx";
import { METHOD_NAMES } from "./path_words.ts";
import { StartForm } from "./start_form.tsx";

// A backtest may have no more.
const LISTED_MAX = 20;

/** Paths that a run might have taken: starts simulations of it, and shows one. */
export function MonteCarloTab({ backtestId }: { readonly backtestId: string }) {
  const queries = useQueryClient();
  const isReadOnly = useReadOnly();
  const [chosen, setChosen] = useState<string>();
  const list = api.monteCarlo.list.queryOptions({ backtest_id: backtestId, limit: LISTED_MAX });
  const { data, error } = useQuery(list);
  const simulations = data?.monte_carlos ?? [];
  const shown = simulations.find(({ id }) => id === chosen) ?? simulations[0];
  const refresh = () => queries.invalidateQueries({ queryKey: list.queryKey });
  const replace = (next: MonteCarlo) =>
    queries.setQueryData(list.queryKey, (page) =>
      page && {
        ...page,
        monte_carlos: page.monte_carlos.map((each) => each.id === next.id ? next : each),
      });
  return (
    <div className="flex flex-col gap-4">
      <p className="max-w-prose text-sm text-muted">
        A backtest shows one path. A simulation makes many that might have been as likely, and shows where the real run
        lies among them.
      </p>
      {!isReadOnly && (
        <StartForm
          backtestId={backtestId}
          onStarted={async (id) => {
            await refresh();
            setChosen(id);
          }}
        />
      )}
      {isReadOnly && data !== undefined && simulations.length === 0 && (
        <p className="text-muted">No simulation of this run has been made.</p>
      )}
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      {simulations.length > 1 && <Chooser simulations={simulations} value={shown?.id} onChange={setChosen} />}
      {shown !== undefined && <Simulation key={shown.id} simulation={shown} onProgress={replace} onChange={refresh} />}
    </div>
  );
}

function Chooser({ simulations, value, onChange }: {
  readonly simulations: readonly MonteCarlo[];
  readonly value: string | undefined;
  readonly onChange: (id: string) => void;
}) {
  return (
    <label className="flex min-w-0 items-center gap-1.5 text-sm text-muted">
      Simulation
      <select
        value={value}
        onChange={({ target }) => onChange(target.value)}
        className="h-8 min-w-0 truncate rounded-md border border-strong-line bg-surface px-1.5 text-text"
      >
        {simulations.map((each) => (
          <option key={each.id} value={each.id}>{describe(each)}, {formatTime(each.created_at)}</option>
        ))}
      </select>
    </label>
  );
}

function describe({ method, runs, block_days: days, seed }: MonteCarlo): string {
  const blocks = days === null ? "" : `, blocks of ${days} d`;
  return `${METHOD_NAMES[method]}, ${formatCount(runs)} paths${blocks}, seed ${seed}`;
}

function Simulation({ simulation, onProgress, onChange }: {
  readonly simulation: MonteCarlo;
  readonly onProgress: (next: MonteCarlo) => void;
  readonly onChange: () => Promise<void>;
}) {
  const isReadOnly = useReadOnly();
  const { id, status, progress, error, result, ruin_drawdown: ruin } = simulation;
  const isUnderWay = !hasEnded(simulation);
  const enabled = !useConnectionLost() && isUnderWay;
  const stream = useSubscription(api.monteCarlo.onEvent.subscriptionOptions({ id }, { enabled, onData: onProgress }));
  useReopening(stream, isUnderWay, () => void onChange());
  const cancel = useMutation(api.monteCarlo.cancel.mutationOptions({ onSettled: onChange }));
  const remove = useMutation(api.monteCarlo.delete.mutationOptions({ onSettled: onChange }));
  return (
    <section className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="min-w-0 font-semibold wrap-anywhere">{describe(simulation)}</h2>
        <StatusBadge status={status} progress={progress} />
        <div className="ml-auto">
          {isReadOnly ? null : hasEnded(simulation)
            ? (
              <DeleteButton
                title="Delete this simulation?"
                text="The same settings and seed give it again."
                label="Delete simulation"
                removal={remove}
                onConfirm={() => remove.mutate({ id })}
              />
            )
            : <Button disabled={cancel.isPending} onClick={() => cancel.mutate({ id })}>Cancel simulation</Button>}
        </div>
      </div>
      {!hasEnded(simulation) && <ProgressBar label="Progress of the simulation" progress={progress} />}
      {error !== null && <p role="alert" className="text-sm break-words text-danger">{error.message}</p>}
      {result?.notes.map((note) => <p key={note} className="text-sm text-muted">{writeTimes(note)}</p>)}
      {result?.samples.map((sample) => <PathSample key={sample.sampling} sample={sample} ruinDrawdown={ruin} />)}
    </section>
  );
}
