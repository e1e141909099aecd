import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, type BacktestSummary, client, describeError } from "../../api.ts";
import { Button, buttonClass } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete_button.tsx";
import { formatCount } from "../../parts/format.ts";

const COMPARED_MIN = 2;
const COMPARED_MAX = 5;

/** Done to each of the chosen runs. */
type Act = (run: BacktestSummary) => Promise<unknown>;

/** Compares, tags and deletes the runs that were chosen in the list. */
export function ChosenRuns({ runs, clear }: { readonly runs: readonly BacktestSummary[]; readonly clear: () => void }) {
  const queries = useQueryClient();
  const [tag, setTag] = useState("");
  const change = useMutation({
    mutationFn: async (act: Act) => {
      for (const run of runs) await act(run);
    },
    onSuccess: clear,
    onSettled: () => queries.invalidateQueries({ queryKey: api.backtests.pathKey() }),
  });
  if (runs.length === 0) return null;
  const completed = runs.filter(({ status }) => status === "completed");
  const canCompare = completed.length === runs.length && runs.length >= COMPARED_MIN && runs.length <= COMPARED_MAX;
  const count = `${formatCount(runs.length)} ${runs.length === 1 ? "run" : "runs"}`;
  return (
    <section
      aria-label="Chosen runs"
      className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-surface p-2"
    >
      <p role="status" className="mr-auto px-1 text-sm">{count} chosen</p>
      {canCompare
        ? (
          <Link to="/compare" search={{ ids: runs.map(({ id }) => id).join(",") }} className={buttonClass()}>
            Compare
          </Link>
        )
        : <Button disabled title="Choose two to five completed runs">Compare</Button>}
      <form
        className="flex gap-1"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(({ id, tags }) => client.backtests.update.mutate({ id, backtest: { tags: [...tags, tag] } }));
        }}
      >
        <input
          aria-label="Tag for the chosen runs"
          placeholder="Tag"
          value={tag}
          onChange={({ target }) => setTag(target.value)}
          className="h-8 w-32 rounded-md border border-strong-line bg-surface px-2 text-sm"
        />
        <Button type="submit" disabled={tag.trim() === "" || change.isPending}>Add tag</Button>
      </form>
      <DeleteButton
        title={`Delete ${count}?`}
        text="Their results, trades and orders are deleted with them. This cannot be undone."
        label={`Delete ${count}`}
        removal={change}
        onConfirm={() => change.mutate(({ id }) => client.backtests.delete.mutate({ id }))}
      />
      <Button kind="quiet" onClick={clear}>Clear</Button>
      {change.error !== null && (
        <p role="alert" className="w-full px-1 text-sm text-danger">{describeError(change.error)}</p>
      )}
    </section>
  );
}
