import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSubscription } from "@trpc/tanstack-react-query";
import { useEffect } from "react";
import { api, type Backtest } from "../../api.ts";
import { useConnectionLost } from "../../connection.ts";

const RETRY_MS = 1_000;

/** A backtest, kept up to date until it has ended, through lost connections and restarts of the service. */
export function useBacktest(id: string) {
  const queries = useQueryClient();
  const query = useQuery(api.backtests.get.queryOptions({ id }));
  const isLost = useConnectionLost();
  const isUnderWay = query.data !== undefined && !hasEnded(query.data.backtest);
  const { status, error, reset } = useSubscription(
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
  // The browser opens a lost stream again by itself and says nothing: only a call finds out that the service is gone.
  const isCut = status === "error" || (status === "connecting" && error !== null);
  useEffect(() => {
    if (!isCut || !isUnderWay) return;
    const timer = setTimeout(() => {
      void queries.invalidateQueries({ queryKey: api.backtests.get.queryKey({ id }) });
      reset();
    }, RETRY_MS);
    return () => clearTimeout(timer);
  }, [isCut, isUnderWay, id, queries, reset]);
  return query;
}

/** True if a record is final. */
export function hasEnded({ status }: Pick<Backtest, "status">): boolean {
  return status !== "queued" && status !== "running";
}
