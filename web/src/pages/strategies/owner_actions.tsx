import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, describeError, type Strategy } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete_button.tsx";
import { useStrategyUpdate } from "./use_strategy_update.ts";

/** The owner's actions: who sees the strategy, and its end. */
export function OwnerActions({ strategy }: { readonly strategy: Strategy }) {
  const { slug, is_public, source_access, runtime_type } = strategy;
  const update = useStrategyUpdate(slug);
  const isOpen = source_access === "open";
  return (
    <>
      <p role={update.error ? "alert" : "status"} className="text-sm text-danger empty:hidden">
        {update.error ? describeError(update.error) : ""}
      </p>
      <Button
        disabled={update.isPending}
        onClick={() => update.mutate({ slug, strategy: { is_public: !is_public } })}
      >
        {is_public ? "Make private" : "Make public"}
      </Button>
      {is_public && runtime_type !== "remote" && (
        <Button
          disabled={update.isPending}
          onClick={() => update.mutate({ slug, strategy: { source_access: isOpen ? "hidden" : "open" } })}
        >
          {isOpen ? "Hide the source" : "Open the source"}
        </Button>
      )}
      <DeleteStrategy slug={slug} />
    </>
  );
}

function DeleteStrategy({ slug }: { readonly slug: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation(api.strategies.delete.mutationOptions({
    onSuccess: async () => {
      await navigate({ to: "/strategies" });
      queries.removeQueries({ queryKey: api.strategies.get.queryKey({ slug }) });
      await queries.invalidateQueries({ queryKey: api.strategies.summaries.pathKey() });
    },
  }));
  return (
    <DeleteButton
      title="Delete this strategy?"
      text="It is deleted with all its versions. Results of its runs stay. This cannot be undone."
      label="Delete strategy"
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ slug })}
    />
  );
}
