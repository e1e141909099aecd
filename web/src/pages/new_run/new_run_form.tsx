import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useForm } from "react-hook-form";
import { api, type Backtest, type Instrument } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { ExecutionSection } from "./execution_section.tsx";
import { MarketSection } from "./market_section.tsx";
import { toField } from "../../parts/parameter_fields.ts";
import { showRefusal } from "../../parts/show_refusal.ts";
import { type Chosen, fieldAt, type RunForm, startValues, toSubmission } from "./run_form.ts";
import { StrategySection } from "./strategy_section.tsx";

/** The whole form. @param first The strategy to begin with. @param earlier The run to start from. */
export function NewRunForm({ first, held, earlier }: {
  readonly first: Chosen;
  readonly held: Instrument | undefined;
  readonly earlier: Backtest | undefined;
}) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [chosen, setChosen] = useState(first);
  const form = useForm<RunForm>({ defaultValues: startValues(first, held, earlier), mode: "onTouched" });
  const create = useMutation(api.backtests.create.mutationOptions());
  const submit = form.handleSubmit(async (values) => {
    try {
      const data = await create.mutateAsync({ backtest: toSubmission(values, chosen, earlier) });
      queries.setQueryData(api.backtests.get.queryKey({ id: data.backtest.id }), data);
      void queries.invalidateQueries({ queryKey: api.backtests.summaries.pathKey() });
      await navigate({ to: "/runs/$id", params: { id: data.backtest.id } });
    } catch (error) {
      showRefusal(form.setError, error, (path) => {
        const name = fieldAt(path, chosen);
        return name === null ? null : { name };
      });
    }
  });
  const choose = (next: Chosen) => {
    setChosen(next);
    form.clearErrors("parameters");
    form.setValue("parameters", next.fields.map((field) => toField(field.default)));
  };
  const element = useRef<HTMLFormElement>(null);
  useSubmitKey(element);
  const { isSubmitting, errors: { root } } = form.formState;
  const [symbol, timeframe, start, end] = form.watch(["symbol", "timeframe", "start", "end"]);
  return (
    <form ref={element} noValidate onSubmit={submit} aria-label="New run">
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <StrategySection form={form} chosen={chosen} choose={choose} />
        <div className="flex min-w-0 flex-col gap-4">
          <MarketSection form={form} />
          <ExecutionSection form={form} />
        </div>
      </div>
      <div className="sticky bottom-2 z-10 mt-4 flex items-center gap-4 rounded-lg border border-line bg-surface px-4 py-3 shadow-sm">
        <p className="min-w-0 grow truncate text-sm text-muted max-sm:hidden">
          {chosen.name} on {symbol || "an instrument"}, {timeframe}, {start} to {end}
        </p>
        <p role="alert" className="min-w-0 text-sm break-words text-danger max-sm:grow">{root?.message}</p>
        <Button type="submit" kind="primary" className="h-9 min-w-32" disabled={isSubmitting}>
          {isSubmitting ? "Starting …" : "Run"}
          <kbd aria-hidden="true" className="text-xs font-normal max-sm:hidden">Ctrl ⏎</kbd>
        </Button>
      </div>
    </form>
  );
}

/** Ctrl+Enter, or the command key, submits from anywhere on the page. */
function useSubmitKey(form: React.RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
      event.preventDefault();
      form.current?.requestSubmit();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [form]);
}
