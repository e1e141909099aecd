import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";
import { api, type BacktestRequest, client, describeError, issuesOf } from "../api.ts";
import { hasEnded } from "./use_backtest.ts";

/** The last of runs that follow one another, as of an editor's text. */
export interface Trial {
  /** Of the run; undefined before the first one. */
  readonly id: string | undefined;
  /** Why it was refused; empty where it was not. */
  readonly refusal: string;
  readonly isStarting: boolean;
  start(backtest: BacktestRequest): void;
}

/** Runs one request after another: each run cancels the one before. */
export function useTrials(): Trial {
  const queries = useQueryClient();
  const create = useMutation(api.backtests.create.mutationOptions());
  const turn = useRef(0);
  const last = useRef<string>(undefined);
  const [id, setId] = useState<string>();
  const [refusal, setRefusal] = useState("");
  const { mutateAsync } = create;
  const start = useCallback(async (backtest: BacktestRequest) => {
    const mine = ++turn.current;
    setRefusal("");
    const before = queries.getQueryData(api.backtests.get.queryKey({ id: last.current ?? "" }))?.backtest;
    if (before !== undefined && !hasEnded(before)) cancel(before.id);
    try {
      const data = await mutateAsync({ backtest });
      if (mine !== turn.current) return cancel(data.backtest.id);
      queries.setQueryData(api.backtests.get.queryKey({ id: data.backtest.id }), data);
      void queries.invalidateQueries({ queryKey: api.backtests.summaries.pathKey() });
      last.current = data.backtest.id;
      setId(data.backtest.id);
    } catch (error) {
      if (mine === turn.current) setRefusal(issuesOf(error)[0]?.message ?? describeError(error));
    }
  }, [mutateAsync, queries]);
  return { id, refusal, isStarting: create.isPending, start: (backtest) => void start(backtest) };
}

/** A run that ends meanwhile stays as it is. */
function cancel(id: string): void {
  client.backtests.cancel.mutate({ id }).catch(() => {});
}
