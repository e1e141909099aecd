import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api, type Backtest, type BacktestRequest, describeError } from "../../api.ts";
import { Button, buttonClass } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete_button.tsx";
import { ShareButton } from "../../parts/share_button.tsx";
import { hasEnded } from "../../parts/use_backtest.ts";
import { RunFiles } from "./run_files.tsx";

/** The actions on a run: cancel, export, repeat, delete. */
export function RunActions({ backtest }: { readonly backtest: Backtest }) {
  const { id } = backtest;
  const queries = useQueryClient();
  const [note, setNote] = useState<ReactNode>(null);
  const cancel = useMutation(api.backtests.cancel.mutationOptions({
    onSuccess: (data) => queries.setQueryData(api.backtests.get.queryKey({ id }), data),
    onError: (error) => setNote(describeError(error)),
  }));
  const copy = async () => {
    await navigator.clipboard.writeText(toCurl(backtest, location.origin));
    setNote(
      <>
        Copied. Set HINDCAST_TOKEN to a token with the scope run: make one under{" "}
        <Link to="/account" className="text-accent underline">Account &gt; Tokens</Link>.
      </>,
    );
  };
  return (
    <div className="max-sm:w-full">
      <div className="flex flex-wrap items-center gap-2 max-sm:flex-nowrap max-sm:overflow-x-auto max-sm:*:shrink-0">
        {!hasEnded(backtest) && (
          <Button disabled={cancel.isPending} onClick={() => cancel.mutate({ id })}>Cancel run</Button>
        )}
        <Link to="/runs/new" search={{ from: id }} className={buttonClass()}>Run again with changes</Link>
        <Button onClick={copy}>Copy as curl</Button>
        {backtest.result !== null && (
          <>
            <ShareButton subject={{ backtest_id: id }} noun="run" />
            <RunFiles id={id} isPortfolio={backtest.result.portfolio !== undefined} />
          </>
        )}
        <DeleteRun id={id} />
      </div>
      <p role="status" className="mt-2 w-0 min-w-full text-sm text-muted empty:hidden sm:text-right">{note}</p>
    </div>
  );
}

function DeleteRun({ id }: { readonly id: string }) {
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
    <DeleteButton
      title="Delete this run?"
      text="Its result, trades and orders are deleted with it. This cannot be undone."
      label="Delete run"
      removal={remove}
      onConfirm={() => remove.mutate({ id })}
    />
  );
}

/** The submission that makes the same run again. */
function toRequest(backtest: Backtest): BacktestRequest {
  const { symbol, exchange, strategy, start_date, end_date, initial_balance, parameters } = backtest;
  return { symbol, exchange, strategy, start_date, end_date, initial_balance, parameters };
}

/** A command for a POSIX shell that submits the same run, with a token of the environment. */
function toCurl(backtest: Backtest, origin: string): string {
  const body = JSON.stringify({ backtest: toRequest(backtest) }, null, 2);
  return [
    `curl -X POST ${quote(`${origin}/api/backtests`)}`,
    `  -H 'content-type: application/json'`,
    '  -H "Authorization: Bearer $HINDCAST_TOKEN"',
    `  --data ${quote(body)}`,
  ].join(" \\\n");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
