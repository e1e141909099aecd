import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { StartPage } from "../new_run/start_page.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useForm, type UseFormReturn } from "react-hook-form";
import { api } from "../../api.ts";
import { formatCount } from "../../parts/format.ts";
import { useDraft } from "../../parts/draft.ts";
import { DraftNote } from "../../parts/draft_note.tsx";
import { ExecutionSection } from "../new_run/execution_section.tsx";
import { InputsFields } from "../new_run/inputs_fields.tsx";
import { MarketSection } from "../new_run/market_section.tsx";
import { ScanFields } from "../new_run/portfolio_fields.tsx";
import type { Chosen } from "../new_run/run_form.ts";
import { RunFormFrame } from "../new_run/run_form_frame.tsx";
import { StrategySection } from "../new_run/strategy_section.tsx";
import { type DraftedStart, useRunForm } from "../new_run/use_run_form.ts";
import { countPoints, planFieldAt, type PlanForm, startPlan, toOptimization } from "./plan_form.ts";
import { planNext, toEarlier } from "./next_space.ts";
import { describeRegion } from "./region.ts";
import { countSettings } from "./setting_axes.ts";
import { PlanSection } from "./plan_section.tsx";
import { type DaysField, planWalk, type WalkPlan } from "./walk_form.ts";
import { CheckField, Field } from "../../parts/field.tsx";
import { FormSection } from "../new_run/form_section.tsx";

const route = getRouteApi("/signed-in/optimizations/new");

/** A form for a new optimization. @see useStart for what it begins with. */
export function NewOptimizationPage() {
  const search = route.useSearch();
  const { optimization, region = NOTHING } = search;
  const origin = useOrigin();
  const earlier = useMemo(() => origin.data && toEarlier(origin.data.optimization, region), [origin.data, region]);
  return (
    <StartPage
      title="New optimization"
      note="Run a strategy with many parameters, and see how much of the best result is luck."
      search={{ ...search, universe: origin.data?.optimization.markets?.universe ?? search.universe }}
      origin={optimization === undefined ? undefined : {
        earlier,
        error: origin.error,
        note: `From the optimization of ${earlier?.strategy} on ${earlier?.symbol}: ${describeRegion(region)}.`,
      }}
      draft={["optimization", ...(optimization === undefined ? [] : [optimization, JSON.stringify(region)])].join(" ")}
      form={OptimizationForm}
    />
  );
}

const NOTHING = {};

/** The optimization that the address names; nothing without one. */
function useOrigin() {
  const { optimization } = route.useSearch();
  return useQuery(api.optimizations.get.queryOptions(
    { id: optimization ?? "" },
    { enabled: optimization !== undefined, staleTime: Infinity },
  ));
}

const DAYS_FIELDS: readonly DaysField[] = ["trainDays", "testDays", "stepDays"];

/** The whole form: a run's own, and the values to try. */
function OptimizationForm(start: DraftedStart) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { form, chosen, choose, isLoading, setLoading, refuse, restart } = useRunForm(start);
  const { region = NOTHING } = route.useSearch();
  const origin = useOrigin().data?.optimization;
  const plan = useForm<PlanForm>({
    defaultValues: origin === undefined ? startPlan(start.first.fields) : planNext(origin, region, start.first.fields),
  });
  const draft = useDraft(form, start.draftName);
  const planDraft = useDraft(plan, `${start.draftName} ${start.first.fields.map(({ name }) => name)}`);
  const drop = () => {
    draft.drop();
    planDraft.drop();
  };
  const create = useMutation(api.optimizations.create.mutationOptions());
  const [from, until] = form.watch(["start", "end"]);
  const walk = plan.watch("walk");
  const walkPlan = planWalk(walk, { start: from, end: until });
  const submit = form.handleSubmit(async (values) => {
    plan.clearErrors();
    const wrong = walk.isOn ? DAYS_FIELDS.find((name) => walkPlan.faults[name] !== undefined) : undefined;
    if (wrong !== undefined) return plan.setFocus(`walk.${wrong}`);
    try {
      const optimization = toOptimization(values, plan.getValues(), chosen, start.earlier);
      const data = await create.mutateAsync({ optimization });
      drop();
      void queries.invalidateQueries({ queryKey: api.optimizations.list.pathKey() });
      await navigate({ to: "/optimizations/$id", params: { id: data.optimization.id } });
    } catch (error) {
      refuse(error, (path) => {
        const name = planFieldAt(path, chosen, plan.getValues());
        if (name === null) return null;
        return { show: (message, shouldFocus) => plan.setError(name, { message }, { shouldFocus }) };
      });
    }
  });
  const chooseOther = (next: Chosen) => {
    choose(next);
    plan.reset({ ...plan.getValues(), ranges: startPlan(next.fields).ranges, rules: [] });
  };
  const own = countPoints(chosen.fields, plan.watch("ranges"));
  const points = own === null ? null : own * countSettings(plan.watch("settings"));
  return (
    <RunFormFrame
      form={form}
      label="New optimization"
      top={
        <DraftNote
          draft={{ isRestored: draft.isRestored || planDraft.isRestored, drop }}
          onAnew={() => {
            restart();
            plan.reset();
          }}
        />
      }
      left={
        <>
          <StrategySection form={form} chosen={chosen} choose={chooseOther} onLoading={setLoading} />
          <InputsFields form={form} />
          <ExecutionSection form={form} />
        </>
      }
      right={
        <>
          <MarketSection form={form} />
          <ScanFields form={form} chosen={chosen} />
          <PlanSection form={plan} fields={chosen.fields} />
          <WalkSection form={plan} plan={walkPlan} />
        </>
      }
      summary={
        <p className="min-w-0 grow text-sm text-muted" role="status">
          {points === null ? "Enter min, max and step of what varies" : `${formatCount(points)} points`}
          {points !== null && walk.isOn && walkPlan.windows > 0 &&
            `, and again in each of ${formatCount(walkPlan.windows)} windows`}
        </p>
      }
      action="Optimize"
      isLoading={isLoading}
      onSubmit={submit}
    />
  );
}

/** The switch of walk-forward windows, and their days. */
function WalkSection({ form, plan }: { readonly form: UseFormReturn<PlanForm>; readonly plan: WalkPlan }) {
  const { register, watch, clearErrors, formState: { errors } } = form;
  const isOn = watch("walk.isOn");
  const clear = { onChange: () => clearErrors("walk") };
  const daysField = (name: DaysField, label: string, hint: string) => (
    <Field
      label={label}
      hint={hint}
      error={plan.faults[name] ?? errors.walk?.[name]?.message}
      inputMode="numeric"
      autoComplete="off"
      placeholder={String(plan.days[name])}
      {...register(`walk.${name}`, clear)}
    />
  );
  return (
    <FormSection title="Walk-forward">
      <label className="flex items-center gap-2 text-sm font-medium">
        <input type="checkbox" role="switch" className="size-4 accent-accent" {...register("walk.isOn", clear)} />
        Test the best on the days that follow
      </label>
      <p className="mt-1 text-xs text-muted">
        The best parameters of each training window trade the window after it, which the choice has not seen.
      </p>
      {isOn && (
        <div className="mt-3 border-t border-line pt-3">
          <div className="grid items-start gap-x-4 sm:grid-cols-3">
            {daysField("trainDays", "Training days", "Calendar days to choose in")}
            {daysField("testDays", "Test days", "Traded with the best of them")}
            {daysField("stepDays", "Step days", "From one test to the next")}
          </div>
          <CheckField
            label="Anchored"
            hint="Each training begins with the range, and grows"
            {...register("walk.anchored", clear)}
          />
          <p role="status" className="text-sm">
            {plan.windows > 0 && (
              <>
                <span className="font-medium">
                  {formatCount(plan.windows)} {plan.windows === 1 ? "window" : "windows"}
                </span>: tests from {plan.firstTest} to {plan.lastTestEnd}
              </>
            )}
          </p>
        </div>
      )}
    </FormSection>
  );
}
