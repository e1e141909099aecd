import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Menu } from "@base-ui/react/menu";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, type Backtest, describeError } from "../../api.ts";
import { Button, buttonClass } from "../../parts/button.tsx";
import { toCurl } from "./curl.ts";
import { hasEnded } from "./use_backtest.ts";

const ITEM = "block w-full px-3 py-1.5 text-sm data-highlighted:bg-sunken";
const EXPORTS = [
  ["equity?format=csv", "Equity, CSV"],
  ["equity?format=arrow", "Equity, Arrow"],
  ["returns?format=csv", "Monthly returns, CSV"],
  ["trades", "Trades, JSON"],
  ["orders", "Orders, JSON"],
] as const;

/** What can be done with a run: cancel it, export it, repeat it, delete it. */
export function RunActions({ backtest }: { readonly backtest: Backtest }) {
  const { id } = backtest;
  const queries = useQueryClient();
  const [note, setNote] = useState("");
  const cancel = useMutation(api.backtests.cancel.mutationOptions({
    onSuccess: (data) => queries.setQueryData(api.backtests.get.queryKey({ id }), data),
    onError: (error) => setNote(describeError(error)),
  }));
  const copy = async () => {
    await navigator.clipboard.writeText(toCurl(backtest, location.origin));
    setNote("Copied");
  };
  return (
    <div className="flex flex-wrap items-center gap-2">
      {!hasEnded(backtest) && (
        <Button disabled={cancel.isPending} onClick={() => cancel.mutate({ id })}>Cancel run</Button>
      )}
      <Link to="/runs/new" search={{ from: id }} className={buttonClass()}>Run again with changes</Link>
      <Button onClick={copy}>Copy as curl</Button>
      {backtest.result !== null && <ExportMenu id={id} />}
      <DeleteButton id={id} />
      <span role="status" className="text-sm text-muted empty:hidden">{note}</span>
    </div>
  );
}

function ExportMenu({ id }: { readonly id: string }) {
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className={buttonClass()}>Export</Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={4} className="z-20">
          <Menu.Popup className="min-w-48 rounded-md border border-line bg-surface py-1 shadow-lg">
            {EXPORTS.map(([path, label]) => (
              <Menu.Item
                key={path}
                className={ITEM}
                render={<a href={`/api/backtests/${id}/${path}`} download={fileName(id, path)}>{label}</a>}
              />
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function fileName(id: string, path: string): string {
  const [name, format = "json"] = path.split("?format=");
  return `${name}-${id}.${format}`;
}

function DeleteButton({ id }: { readonly id: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation(api.backtests.delete.mutationOptions({
    onSuccess: async () => {
      await navigate({ to: "/runs" });
      queries.removeQueries({ queryKey: api.backtests.get.queryKey({ id }) });
      await queries.invalidateQueries({ queryKey: api.backtests.summaries.pathKey() });
    },
  }));
  return (
    <AlertDialog.Root>
      <AlertDialog.Trigger className={buttonClass("danger")}>Delete</AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-20 bg-page/70" />
        <AlertDialog.Popup className="fixed top-1/3 left-1/2 z-30 w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 rounded-lg border border-line bg-surface p-5 shadow-xl">
          <AlertDialog.Title className="text-lg font-semibold">Delete this run?</AlertDialog.Title>
          <AlertDialog.Description className="mt-2 text-muted">
            Its result, trades and orders are deleted with it. This cannot be undone.
          </AlertDialog.Description>
          <p role="alert" className="min-h-5 text-sm text-danger">{remove.error ? describeError(remove.error) : ""}</p>
          <div className="mt-3 flex justify-end gap-2">
            <AlertDialog.Close className={buttonClass()}>Keep it</AlertDialog.Close>
            <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate({ id })}>Delete run</Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
