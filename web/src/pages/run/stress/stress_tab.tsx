import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSubscription } from "@trpc/tanstack-react-query";
import { api, describeError, type StressTest } from "../../../api.ts";
import { useConnectionLost } from "../../../connection.ts";
import { Button } from "../../../parts/button.tsx";
import { formatTime } from "../../../parts/format.ts";
import { ProgressBar } from "../../../parts/progress_bar.tsx";
import { useReadOnly } from "../../../parts/read_only.ts";
import { StatusBadge } from "../../../parts/status_badge.tsx";
import { hasEnded } from "../../../parts/use_backtest.ts";
import { useReopening } from "../../../parts/use_reopening.ts";
import { StressTables } from "./stress_tables.tsx";

/** Starts a stress test of a run, and shows the newest one: how the run ends where something is a little worse. */
export function StressTab({ backtestId }: { readonly backtestId: string }) {
  const isReadOnly = useReadOnly();
  const queries = useQueryClient();
  const list = api.stressTests.list.queryOptions({ backtest_id: backtestId, limit: 1 });
  const { data, error } = useQuery(list);
  const shown = data?.stress_tests[0];
  const refresh = () => queries.invalidateQueries({ queryKey: list.queryKey });
  const replace = (next: StressTest) =>
    queries.setQueryData(list.queryKey, (page) => page && { ...page, stress_tests: [next] });
  const start = useMutation(api.stressTests.create.mutationOptions({ onSettled: refresh }));
  const isUnderWay = shown !== undefined && !hasEnded(shown);
  return (
    <div className="flex flex-col gap-4">
      <p className="max-w-prose text-sm text-muted">
        A stress test runs the backtest again with one change at a time: higher costs, later orders, worse fills, moved
        parameters. It also leaves its best trades, days and years out.
      </p>
      <div className="flex flex-wrap items-center gap-3">
        {isReadOnly
          ? data !== undefined && shown === undefined && (
            <p className="text-muted">No stress test of this run has been made.</p>
          )
          : (
            <Button
              kind="primary"
              disabled={start.isPending || isUnderWay}
              onClick={() => start.mutate({ id: backtestId })}
            >
              {shown === undefined ? "Start a stress test" : "Test again"}
            </Button>
          )}
        {shown !== undefined && <StatusBadge status={shown.status} progress={shown.progress} />}
        {shown !== undefined && <span className="text-sm text-muted">{formatTime(shown.created_at)}</span>}
      </div>
      {[error, start.error].map((each) =>
        each !== null && <p key={String(each)} role="alert" className="text-danger">{describeError(each)}</p>
      )}
      {shown !== undefined && <Shown key={shown.id} test={shown} onProgress={replace} onChange={refresh} />}
    </div>
  );
}

function Shown({ test, onProgress, onChange }: {
  readonly test: StressTest;
  readonly onProgress: (next: StressTest) => void;
  readonly onChange: () => Promise<void>;
}) {
  const { id, progress, error, result } = test;
  const isUnderWay = !hasEnded(test);
  const enabled = !useConnectionLost() && isUnderWay;
  const stream = useSubscription(api.stressTests.onEvent.subscriptionOptions({ id }, { enabled, onData: onProgress }));
  useReopening(stream, isUnderWay, () => void onChange());
  const cancel = useMutation(api.stressTests.cancel.mutationOptions({ onSettled: onChange }));
  return (
    <section className="flex flex-col gap-4">
      {isUnderWay && <ProgressBar label="Progress of the stress test" progress={progress} />}
      {isUnderWay && (
        <Button disabled={cancel.isPending} onClick={() => cancel.mutate({ id })} className="self-start">
          Cancel stress test
        </Button>
      )}
      {error !== null && <p role="alert" className="text-sm break-words text-danger">{error.message}</p>}
      {result !== null && <StressTables result={result} />}
    </section>
  );
}
