import { useState } from "react";
import type { UseFormReturn } from "react-hook-form";
import { Field, SelectField } from "../../parts/field.tsx";
import { toWords } from "../../parts/format.ts";
import { defaultOf, EXECUTION_FIELDS, EXECUTION_GROUPS, type ExecutionField, PROFILES } from "./execution_fields.ts";
import { countChanges, findRuleFault } from "./execution_rules.ts";
import type { RunForm } from "./run_form.ts";

/** The rules by which orders fill: closed until somebody wants them, or one of them is wrong. */
export function ExecutionSection({ form }: { readonly form: UseFormReturn<RunForm> }) {
  const [isOpen, setOpen] = useState(false);
  const { errors } = form.formState;
  const [profile, texts] = form.watch(["profile", "execution"]);
  const changes = countChanges(texts);
  return (
    <details
      className="rounded-lg border border-line bg-surface"
      open={isOpen || errors.execution !== undefined || errors.profile !== undefined}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="flex flex-wrap items-baseline gap-x-2 rounded-lg px-4 py-3 hover:bg-sunken">
        <span aria-hidden="true" className="w-3 text-xs text-muted">{isOpen ? "▾" : "▸"}</span>
        <h2 className="font-semibold whitespace-nowrap">Execution assumptions</h2>
        <span className="ml-auto text-sm text-muted">
          {profile}, {changes === 0 ? "all defaults" : `${changes} changed`}
        </span>
      </summary>
      <div className="border-t border-line p-4">
        <SelectField
          label="Profile"
          hint="Decides each rule that is not changed below"
          error={errors.profile?.message}
          options={PROFILES}
          {...form.register("profile")}
        />
        {EXECUTION_GROUPS.map(({ title, fields }) => (
          <fieldset key={title} className="mt-2 border-t border-line pt-3">
            <legend className="float-left mb-2 w-full text-sm font-semibold">{title}</legend>
            <div className="clear-both grid items-start gap-x-4 gap-y-1.5 sm:grid-cols-2">
              {fields.map((field) => <Rule key={field.key} form={form} field={field} profile={profile} />)}
            </div>
          </fieldset>
        ))}
      </div>
    </details>
  );
}

/** A control for a rule of execution. */
export function Rule({ form, field, profile }: {
  readonly form: UseFormReturn<RunForm>;
  readonly field: ExecutionField;
  readonly profile: string;
}) {
  const { label, hint, choices } = field;
  const index = EXECUTION_FIELDS.indexOf(field);
  const fallback = defaultOf(field, profile);
  const shared = { label, hint, error: form.formState.errors.execution?.[index]?.message };
  if (typeof fallback === "number") {
    return (
      <Field
        {...shared}
        inputMode="decimal"
        autoComplete="off"
        placeholder={String(fallback)}
        {...form.register(`execution.${index}`, { validate: (typed) => findRuleFault(field, typed) })}
      />
    );
  }
  const values = choices ?? ["true", "false"];
  const options = values.filter((value) => value !== String(fallback)).map((value) => ({ value, label: name(value) }));
  return (
    <SelectField
      {...shared}
      options={[{ value: "", label: `${name(String(fallback))} (default)` }, ...options]}
      {...form.register(`execution.${index}`)}
    />
  );
}

function name(value: string): string {
  return value === "true" ? "yes" : value === "false" ? "no" : toWords(value);
}
