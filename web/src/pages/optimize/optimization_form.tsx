import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { api, type Backtest, type Instrument } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { formatCount } from "../../parts/format.ts";
import { toField } from "../../parts/parameter_fields.ts";
import { showRefusal } from "../../parts/show_refusal.ts";
import { ExecutionSection } from "../new_run/execution_section.tsx";
import { MarketSection } from "../new_run/market_section.tsx";
import { type Chosen, fieldAt, type RunForm, startValues } from "../new_run/run_form.ts";
import { StrategySection } from "../new_run/strategy_section.tsx";
import { countPoints, planFieldAt, type PlanForm, startPlan, toOptimization } from "./plan_form.ts";
import { PlanSection } from "./plan_section.tsx";

/** The whole form: a run's own, and the values to try. @param first The strategy to begin with. @param earlier The run to start from. */
export function OptimizationForm({ first, held, earlier }: {
  readonly first: Chosen;
  readonly held: Instrument | undefined;
  readonly earlier: Backtest | undefined;
}) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [chosen, setChosen] = useState(first);
  const form = useForm<RunForm>({ defaultValues: startValues(first, held, earlier), mode: "onTouched" });
  const plan = useForm<PlanForm>({ defaultValues: startPlan(first.fields) });
  const create = useMutation(api.optimizations.create.mutationOptions());
  const submit = form.handleSubmit(async (values) => {
    plan.clearErrors();
    try {
      const data = await create.mutateAsync({ optimization: toOptimization(values, plan.getValues(), chosen) });
      void queries.invalidateQueries({ queryKey: api.optimizations.list.pathKey() });
      await navigate({ to: "/optimizations/$id", params: { id: data.optimization.id } });
    } catch (error) {
      showRefusal(form.setError, error, (path) => {
        const name = fieldAt(path.replace(/^\/optimization/, "/backtest"), chosen);
        return name === null ? null : { name };
      });
      showRefusal(plan.setError, error, (path) => {
        const name = planFieldAt(path, chosen);
        return name === null ? null : { name };
      });
    }
  });
  const choose = (next: Chosen) => {
    setChosen(next);
    form.clearErrors("parameters");
    form.setValue("parameters", next.fields.map((field) => toField(field.default)));
    plan.reset({ ...plan.getValues(), ranges: startPlan(next.fields).ranges });
  };
  const points = countPoints(chosen.fields, plan.watch("ranges"));
  const { isSubmitting, errors: { root } } = form.formState;
  return (
    <form noValidate onSubmit={submit} aria-label="New optimization">
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <StrategySection form={form} chosen={chosen} choose={choose} />
          <ExecutionSection form={form} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <MarketSection form={form} />
          <PlanSection form={plan} fields={chosen.fields} />
        </div>
      </div>
      <div className="sticky bottom-2 z-10 mt-4 flex items-center gap-4 rounded-lg border border-line bg-surface px-4 py-3 shadow-sm">
        <p className="min-w-0 grow text-sm text-muted" role="status">
          {points === null ? "Enter min, max and step of what varies" : `${formatCount(points)} points`}
        </p>
        <p role="alert" className="min-w-0 text-sm break-words text-danger max-sm:grow">{root?.message}</p>
        <Button type="submit" kind="primary" className="h-9 min-w-32" disabled={isSubmitting}>
          {isSubmitting ? "Starting …" : "Optimize"}
        </Button>
      </div>
    </form>
  );
}
