import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, describeError } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { useReadOnly } from "../../parts/read_only.ts";

/** Runs a trial as a backtest and shows it. */
export function RunTrial({ id, number }: { readonly id: string; readonly number: number }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const run = useMutation(api.optimizations.backtestTrial.mutationOptions({
    onSuccess: async (data) => {
      void queries.invalidateQueries({ queryKey: api.backtests.summaries.pathKey() });
      await navigate({ to: "/runs/$id", params: { id: data.backtest.id } });
    },
  }));
  if (useReadOnly()) return null;
  return (
    <>
      <Button
        className="h-7"
        disabled={run.isPending}
        aria-label={`Run trial ${number}`}
        onClick={() => run.mutate({ id, number })}
      >
        {run.isPending ? "Starting …" : "Run"}
      </Button>
      {run.error !== null && <p role="alert" className="text-xs text-danger">{describeError(run.error)}</p>}
    </>
  );
}
