import { getRouteApi } from "@tanstack/react-router";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSubscription } from "@trpc/tanstack-react-query";
import { api, codeOf } from "../../api.ts";
import { DeletedElsewhere, Failure, NotYours } from "../../parts/failure.tsx";
import { OptimizationView } from "./optimization_view.tsx";
import { useConnectionLost } from "../../connection.ts";
import { hasEnded } from "../../parts/use_backtest.ts";
import { useReopening } from "../../parts/use_reopening.ts";

const route = getRouteApi("/signed-in/optimizations/$id");

/** One optimization, kept up to date while it runs. */
export function OptimizationPage() {
  const { id } = route.useParams();
  const { data, error, refetch } = useOptimization(id);
  if (codeOf(error) === "OPTIMIZATION_NOT_FOUND") {
    const Gone = data === undefined ? NotYours : DeletedElsewhere;
    return <Gone noun="optimization" to="/optimizations" />;
  }
  if (data === undefined) {
    if (error) return <Failure error={error} reset={() => void refetch()} />;
    return <p role="status" className="py-24 text-center text-muted">Loading the optimization …</p>;
  }
  return <OptimizationView optimization={data.optimization} />;
}

/** An optimization, kept up to date until it has ended, through lost connections and restarts of the service. */
function useOptimization(id: string) {
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
