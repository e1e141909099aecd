import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { StartPage } from "./start_page.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api.ts";
import { useDraft } from "../../parts/draft.ts";
import { DraftNote } from "../../parts/draft_note.tsx";
import { formatCount } from "../../parts/format.ts";
import { ExecutionSection } from "./execution_section.tsx";
import { InputsFields } from "./inputs_fields.tsx";
import { MarketSection } from "./market_section.tsx";
import { PortfolioFields } from "./portfolio_fields.tsx";
import { toSubmission } from "./run_form.ts";
import { RunFormFrame } from "./run_form_frame.tsx";
import { StrategySection } from "./strategy_section.tsx";
import { type DraftedStart, useRunForm } from "./use_run_form.ts";

const route = getRouteApi("/signed-in/runs/new");

/** A form for a new run, or for an earlier one with changes. */
export function NewRunPage() {
  const search = route.useSearch();
  return (
    <StartPage
      title={search.from === undefined ? "New run" : "Run again with changes"}
      note="Replay a strategy over past candles. Everything is filled in for a first run on the sample."
      search={search}
      draft="run"
      form={NewRunForm}
    />
  );
}

function countInstruments(count: number): string {
  return `${formatCount(count)} ${count === 1 ? "instrument" : "instruments"}`;
}

/** The whole form of a run. */
function NewRunForm(start: DraftedStart) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { form, chosen, choose, isLoading, setLoading, refuse, restart } = useRunForm(start);
  const draft = useDraft(form, start.draftName);
  const create = useMutation(api.backtests.create.mutationOptions());
  const submit = form.handleSubmit(async (values) => {
    try {
      const data = await create.mutateAsync({ backtest: toSubmission(values, chosen, start.earlier) });
      draft.drop();
      queries.setQueryData(api.backtests.get.queryKey({ id: data.backtest.id }), data);
      void queries.invalidateQueries({ queryKey: api.backtests.summaries.pathKey() });
      await navigate({ to: "/runs/$id", params: { id: data.backtest.id } });
    } catch (error) {
      refuse(error);
    }
  });
  const [symbol, timeframe, from, until] = form.watch(["symbol", "timeframe", "start", "end"]);
  const { reach, instruments, universe } = form.watch("markets");
  const place = reach === "list" ? countInstruments(instruments.length) : reach === "universe" ? universe : symbol;
  return (
    <RunFormFrame
      form={form}
      label="New run"
      top={<DraftNote draft={draft} onAnew={restart} />}
      left={<StrategySection form={form} chosen={chosen} choose={choose} onLoading={setLoading} />}
      right={
        <>
          <MarketSection form={form} />
          <PortfolioFields form={form} chosen={chosen} />
          <InputsFields form={form} />
          <ExecutionSection form={form} />
        </>
      }
      summary={
        <p className="min-w-0 grow truncate text-sm text-muted max-sm:hidden">
          {chosen.name} on {place || (reach === "universe" ? "a universe" : "an instrument")}, {timeframe}, {from} to
          {" "}
          {until}
        </p>
      }
      action="Run"
      isLoading={isLoading}
      onSubmit={submit}
    />
  );
}
