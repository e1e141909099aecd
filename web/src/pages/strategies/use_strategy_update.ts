import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api.ts";

/** Changes a strategy; its page and the lists get the service's answer. */
export function useStrategyUpdate(slug: string) {
  const queries = useQueryClient();
  return useMutation(api.strategies.update.mutationOptions({
    onSuccess: async (data) => {
      queries.setQueryData(api.strategies.get.queryKey({ slug }), data);
      await queries.invalidateQueries({ queryKey: api.strategies.summaries.pathKey() });
    },
  }));
}
