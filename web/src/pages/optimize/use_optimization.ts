import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, type Optimization } from "../../api.ts";

const LIVE_MS = 500;

/** An optimization, kept up to date until it has ended. What is drawn of its trials is read anew each time. */
export function useOptimization(id: string) {
  const queries = useQueryClient();
  return useQuery({
    ...api.optimizations.get.queryOptions({ id }),
    refetchInterval: ({ state }) => {
      if (state.data === undefined || hasEnded(state.data.optimization)) return false;
      void queries.invalidateQueries({ queryKey: api.optimizations.list.pathKey() });
      return LIVE_MS;
    },
  });
}

/** True if a record is final. */
export function hasEnded({ status }: Pick<Optimization, "status">): boolean {
  return status !== "queued" && status !== "running";
}
