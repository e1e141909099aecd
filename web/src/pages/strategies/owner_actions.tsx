import { AlertDialog } from "@base-ui/react/alert-dialog";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, describeError, type Strategy } from "../../api.ts";
import { Button, buttonClass } from "../../parts/button.tsx";

/** The owner's actions: who sees the strategy, and its end. */
export function OwnerActions({ strategy: { slug, is_public } }: { readonly strategy: Strategy }) {
  const queries = useQueryClient();
  const update = useMutation(api.strategies.update.mutationOptions({
    onSuccess: async (data) => {
      queries.setQueryData(api.strategies.get.queryKey({ slug }), data);
      await queries.invalidateQueries({ queryKey: api.strategies.summaries.pathKey() });
    },
  }));
  return (
    <>
      <p role={update.error ? "alert" : "status"} className="text-sm text-danger">
        {update.error ? describeError(update.error) : ""}
      </p>
      <Button
        disabled={update.isPending}
        onClick={() => update.mutate({ slug, strategy: { is_public: !is_public } })}
      >
        {is_public ? "Make private" : "Make public"}
      </Button>
      <DeleteButton slug={slug} />
    </>
  );
}

function DeleteButton({ slug }: { readonly slug: string }) {
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
    <AlertDialog.Root>
      <AlertDialog.Trigger className={buttonClass("danger")}>Delete</AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-20 bg-page/70" />
        <AlertDialog.Popup className="fixed top-1/3 left-1/2 z-30 w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 rounded-lg border border-line bg-surface p-5 shadow-xl">
          <AlertDialog.Title className="text-lg font-semibold">Delete this strategy?</AlertDialog.Title>
          <AlertDialog.Description className="mt-2 text-muted">
            It is deleted with all its versions. Results of its runs stay. This cannot be undone.
          </AlertDialog.Description>
          <p role="alert" className="min-h-5 text-sm text-danger">{remove.error ? describeError(remove.error) : ""}</p>
          <div className="mt-3 flex justify-end gap-2">
            <AlertDialog.Close className={buttonClass()}>Keep it</AlertDialog.Close>
            <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate({ slug })}>
              Delete strategy
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
