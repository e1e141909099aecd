import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSubscription } from "@trpc/tanstack-react-query";
import { api } from "../../api.ts";
import { useConnectionLost } from "../../connection.ts";
import { hasEnded } from "../../parts/use_backtest.ts";
import { useReopening } from "../../parts/use_reopening.ts";

/** An optimization, kept up to date until it has ended, through lost connections and restarts of the service. */
export function useOptimization(id: string) {
  const queries = useQueryClient();
  const query = useQuery(api.optimizations.get.queryOptions({ id }));
  const queryKey = api.optimizations.get.queryKey({ id });
  const isLost = useConnectionLost();
  const isUnderWay = query.data !== undefined && !hasEnded(query.data.optimization);
  const stream = useSubscription(
    api.optimizations.onEvent.subscriptionOptions({ id }, {
      enabled: isUnderWay && !isLost,
      onData: (optimization) => queries.setQueryData(queryKey, { optimization }),
    }),
  );
  useReopening(stream, isUnderWay, () => void queries.invalidateQueries({ queryKey }));
  return query;
}
