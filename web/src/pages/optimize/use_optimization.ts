import { useQuery } from "@tanstack/react-query";
import { api, type Optimization } from "../../api.ts";

const LIVE_MS = 500;

/** An optimization, kept up to date until it has ended. */
export function useOptimization(id: string) {
  return useQuery({
    ...api.optimizations.get.queryOptions({ id }),
    refetchInterval: ({ state }) => state.data !== undefined && !hasEnded(state.data.optimization) && LIVE_MS,
  });
}

/** True if a record is final. */
export function hasEnded({ status }: Pick<Optimization, "status">): boolean {
  return status !== "queued" && status !== "running";
}
