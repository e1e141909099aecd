import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSubscription } from "@trpc/tanstack-react-query";
import { api, type Backtest } from "../api.ts";
import { useConnectionLost } from "../connection.ts";
import { useListChanges } from "./use_list_changes.ts";
import { useReopening } from "./use_reopening.ts";

/** A backtest, kept up to date until it has ended, through lost connections and restarts of the service. */
export function useBacktest(id: string) {
  const queries = useQueryClient();
  const query = useQuery(api.backtests.get.queryOptions({ id }));
  const isLost = useConnectionLost();
  const isUnderWay = query.data !== undefined && !hasEnded(query.data.backtest);
  const stream = useSubscription(
    api.backtests.onEvent.subscriptionOptions({ id }, {
      enabled: isUnderWay && !isLost,
      onData: (backtest) => {
        queries.setQueryData(api.backtests.get.queryKey({ id }), { backtest });
        if (!hasEnded(backtest)) return;
        // Events do not count the tries around a run. Lists show its end, too.
        void queries.invalidateQueries({ queryKey: api.backtests.get.queryKey({ id }) });
        void queries.invalidateQueries({ queryKey: api.backtests.summaries.pathKey() });
      },
    }),
  );
  useReopening(stream, isUnderWay, () => {
    void queries.invalidateQueries({ queryKey: api.backtests.get.queryKey({ id }) });
  });
  return query;
}

/** Reads the record of a run that has ended again when a program, or another browser, has changed its labels. */
export function useChangingLabels(id: string, isEnded: boolean): void {
  const queries = useQueryClient();
  useListChanges((isMissed) => {
    // This page deletes it.
    if (queries.isMutating({ mutationKey: api.backtests.delete.mutationKey() }) > 0) return;
    const queryKey = api.backtests.get.queryKey({ id });
    void (isMissed ? queries.refetchQueries({ queryKey, stale: true }) : queries.invalidateQueries({ queryKey }));
  }, isEnded);
}

/** True if a record is final. */
export function hasEnded({ status }: Pick<Backtest, "status">): boolean {
  return status !== "queued" && status !== "running";
}
