import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Backtest, readAnew } from "../api.ts";
import { dropDraft, notesDraft } from "./draft.ts";

type Labels = Pick<Backtest, "name" | "tags" | "star">;

/**
 * Changes a run's labels. Lists and pages get the service's answer.
 *
 * @returns `shown` is the run with a change that is on its way; a refusal takes it back.
 */
export function useLabels<Run extends Labels & Pick<Backtest, "id">>(run: Run) {
  const queries = useQueryClient();
  const change = useMutation(api.backtests.update.mutationOptions({
    onSuccess: async (data, { backtest }) => {
      if (backtest.notes !== undefined) dropDraft(notesDraft(run.id));
      queries.setQueryData(api.backtests.get.queryKey({ id: run.id }), data);
      await Promise.all([
        readAnew(api.backtests.summaries.pathKey()),
        readAnew(api.backtests.filterValues.pathKey()),
      ]);
    },
  }));
  type Changes = Parameters<typeof change.mutate>[0]["backtest"];
  const pending: Changes = change.isPending ? change.variables.backtest : {};
  return {
    shown: {
      ...run,
      ...(pending.name === undefined ? {} : { name: pending.name || null }),
      ...(pending.tags === undefined ? {} : { tags: pending.tags ?? [] }),
      ...(pending.star === undefined ? {} : { star: pending.star ?? false }),
      ...(pending.notes === undefined ? {} : { notes: pending.notes || null }),
    },
    error: change.error,
    /** The change that was refused, to be mended. */
    refused: change.isError ? change.variables.backtest : {},
    put: (backtest: Changes) => change.mutate({ id: run.id, backtest }),
    reset: () => change.reset(),
  };
}

/**
 * The same with a field for one label, which closes at once when its text is kept, and opens again with the text if it is refused.
 *
 * @param isDrafted True if it is open at first: its text was typed and not kept.
 * @returns `wasOpen` tells the button that opens the field to take the focus back.
 */
export function useLabelField<Run extends Labels & Pick<Backtest, "id">>(run: Run, isDrafted = false) {
  const { put, reset, ...labels } = useLabels(run);
  const [isOpen, setOpen] = useState(isDrafted);
  const [wasOpen, setWasOpen] = useState(false);
  const close = () => {
    setOpen(false);
    setWasOpen(true);
  };
  return {
    ...labels,
    isOpen: isOpen || labels.error !== null,
    wasOpen,
    open: () => setOpen(true),
    keep: (...change: Parameters<typeof put>) => {
      put(...change);
      close();
    },
    leave: () => {
      reset();
      close();
    },
  };
}
