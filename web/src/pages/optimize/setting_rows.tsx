import { useState } from "react";
import type { UseFormReturn } from "react-hook-form";
import { Field } from "../../parts/field.tsx";
import type { PlanForm } from "./plan_form.ts";
import { countSettings, SETTING_AXES } from "./setting_axes.ts";

/** Settings of the run that vary, too: closed until somebody wants them, or one of them is wrong. */
export function SettingRows({ form }: { readonly form: UseFormReturn<PlanForm> }) {
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
