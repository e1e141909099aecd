import type { UseFormReturn } from "react-hook-form";
import { useState } from "react";
import { Field, SelectField } from "../../parts/field.tsx";
import type { ParameterField } from "../../parts/parameter_fields.ts";
import { FormSection } from "../new_run/form_section.tsx";
import { useMetrics } from "../../parts/metric_value.ts";
import { ConstraintsFields } from "./constraints_fields.tsx";
import { choicesOf, isNumeric, listObjectives, METHODS, type PlanForm } from "./plan_form.ts";
import { countSettings, SETTING_AXES } from "./setting_axes.ts";

/** The values to try, and what makes one better than another. */
export function PlanSection({ form, fields }: {
  readonly form: UseFormReturn<PlanForm>;
  readonly fields: readonly ParameterField[];
}) {
  const { register, watch, formState: { errors } } = form;
  const metrics = useMetrics();
  return (
    <FormSection title="What varies">
      <div className="flex flex-col gap-1">
        <p aria-hidden="true" className={`${GRID} text-xs text-muted`}>
          <span className="max-sm:hidden" /> <span>from</span> <span>to</span> <span>step</span>
        </p>
        {fields.map((field, i) => <RangeRow key={field.name} form={form} field={field} index={i} />)}
      </div>
      <SettingRows form={form} />
      <div className="mt-3 grid grid-cols-2 gap-x-4 border-t border-line pt-3">
        <SelectField
          label="Look for the best"
          error={errors.objective?.message}
          options={listObjectives(metrics, watch("objective"))}
          {...register("objective")}
        />
        <SelectField label="Points" error={errors.method?.message} options={METHODS} {...register("method")} />
        <Field
          label="Most trials"
          inputMode="numeric"
          autoComplete="off"
          error={errors.trialsMax?.message}
          {...register("trialsMax")}
        />
        <Field label="Name" autoComplete="off" error={errors.name?.message} {...register("name")} />
      </div>
      <ConstraintsFields form={form} names={fields.filter(isNumeric).map(({ name }) => name)} />
    </FormSection>
  );
}

const GRID = "grid grid-cols-[minmax(0,1fr)_repeat(3,4.75rem)] items-center gap-2 max-sm:grid-cols-3";
const SMALL = "h-8 w-full min-w-0 rounded-md border bg-surface px-2 text-sm";

function RangeRow({ form, field, index }: {
  readonly form: UseFormReturn<PlanForm>;
  readonly field: ParameterField;
  readonly index: number;
}) {
  const { register, watch, formState: { errors } } = form;
  const choices = isNumeric(field) ? null : choicesOf(field);
  if (!isNumeric(field) && choices === null) return null;
  const isVaried = watch(`ranges.${index}.isVaried`);
  const faults = errors.ranges?.[index];
  const fault = faults?.min?.message ?? faults?.max?.message ?? faults?.step?.message;
  return (
    <div>
      <div className={GRID}>
        <label className="flex min-w-0 items-center gap-2 text-sm max-sm:col-span-3">
          <input type="checkbox" className="size-4 shrink-0 accent-accent" {...register(`ranges.${index}.isVaried`)} />
          <span className="truncate" title={field.description}>{field.name}</span>
        </label>
        {choices !== null
          ? (
            <p className="col-span-3 truncate text-right text-sm text-muted">
              {choices.map(String).join(", ")}
            </p>
          )
          : (["min", "max", "step"] as const).map((key) => (
            <input
              key={key}
              aria-label={`${key} of ${field.name}`}
              inputMode="decimal"
              autoComplete="off"
              readOnly={!isVaried}
              aria-invalid={faults?.[key] !== undefined}
              className={`${SMALL} read-only:bg-sunken read-only:text-muted ${
                faults?.[key] === undefined ? "border-strong-line" : "border-danger"
              }`}
              {...register(`ranges.${index}.${key}`)}
            />
          ))}
      </div>
      {fault !== undefined && <p role="alert" className="pb-1 text-xs text-danger">{fault}</p>}
    </div>
  );
}

/** Settings of the run that vary, too: closed until somebody wants them, or one of them is wrong. */
function SettingRows({ form }: { readonly form: UseFormReturn<PlanForm> }) {
  const [isWanted, setWanted] = useState(false);
  const { register, watch, formState: { errors } } = form;
  const isOpen = isWanted || errors.settings !== undefined;
  const values = countSettings(watch("settings"));
  return (
    <details
      className="mt-3 border-t border-line pt-3"
      open={isOpen}
      onToggle={({ currentTarget }) => setWanted(currentTarget.open)}
    >
      <summary className="flex flex-wrap items-baseline gap-x-2 rounded-md text-sm hover:bg-sunken">
        <span aria-hidden="true" className="w-3 text-xs text-muted">{isOpen ? "▾" : "▸"}</span>
        <span className="font-medium">Costs, dates and timeframes</span>
        <span className="ml-auto text-muted">{values === 1 ? "as given" : `times ${values}`}</span>
      </summary>
      {isOpen && (
        <>
          <p className="my-2 text-sm text-muted">
            Values with commas between them: each point is tried with each of them, in place of the one above.
          </p>
          <div className="grid items-start gap-x-4 gap-y-1.5 sm:grid-cols-2">
            {SETTING_AXES.map(({ name, label, example }, i) => (
              <Field
                key={name}
                label={label}
                placeholder={example}
                autoComplete="off"
                error={errors.settings?.[i]?.message}
                {...register(`settings.${i}`)}
              />
            ))}
          </div>
        </>
      )}
    </details>
  );
}
