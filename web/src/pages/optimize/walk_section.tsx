import type { UseFormReturn } from "react-hook-form";
import { CheckField, Field } from "../../parts/field.tsx";
import { formatCount } from "../../parts/format.ts";
import { FormSection } from "../new_run/form_section.tsx";
import type { PlanForm } from "./plan_form.ts";
import type { DaysField, WalkPlan } from "./walk_form.ts";

/** The switch of walk-forward windows, and their days. */
export function WalkSection({ form, plan }: { readonly form: UseFormReturn<PlanForm>; readonly plan: WalkPlan }) {
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
