import type { UseFormReturn } from "react-hook-form";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { controlClass, TextArea } from "../../parts/field.tsx";
import { COMPARISONS, type Rule } from "./constraint_form.ts";
import type { PlanForm } from "./plan_form.ts";

/** Limits between parameters: chosen, or typed where choosing cannot say them. @param names Of the parameters that are numbers. */
export function ConstraintsFields({ form, names }: {
  readonly form: UseFormReturn<PlanForm>;
  readonly names: readonly string[];
}) {
  const { watch, setValue, clearErrors } = form;
  const rules = watch("rules");
  const set = (next: Rule[]) => {
    setValue("rules", next);
    clearErrors("rules");
  };
  const [first = "", second = ""] = names;
  return (
    <fieldset className="border-t border-line pt-3">
      <legend className="sr-only">Constraints</legend>
      <p aria-hidden="true" className="text-sm font-medium">Constraints</p>
      <p className="mb-2 text-xs text-muted">Only points that keep all of them are tried.</p>
      {rules.map((_, i) => (
        <RuleRow
          key={i}
          form={form}
          names={names}
          index={i}
          remove={() => set(rules.filter((__, other) => other !== i))}
        />
      ))}
      <Button
        disabled={first === ""}
        onClick={() => set([...rules, { left: first, comparison: "<", right: second, value: "" }])}
      >
        Add a constraint
      </Button>
      <TextForm form={form} />
    </fieldset>
  );
}

const VALUE = "";
const SMALL = "h-8! px-1.5! text-sm!";

function RuleRow({ form, names, index, remove }: {
  readonly form: UseFormReturn<PlanForm>;
  readonly names: readonly string[];
  readonly index: number;
  readonly remove: () => void;
}) {
  const { register, watch, formState: { errors } } = form;
  const error = errors.rules?.[index]?.message;
  const label = `constraint ${index + 1}`;
  const look = `${controlClass(error)} ${SMALL}`;
  const options = names.map((name) => <option key={name} value={name}>{name}</option>);
  return (
    <div className="mb-2">
      <div className="flex flex-wrap items-center gap-2">
        <select
          aria-label={`Parameter of ${label}`}
          className={`${look} w-28! grow`}
          {...register(`rules.${index}.left`)}
        >
          {options}
        </select>
        <select
          aria-label={`Comparison of ${label}`}
          className={`${look} w-32!`}
          {...register(`rules.${index}.comparison`)}
        >
          {Object.entries(COMPARISONS).map(([sign, words]) => <option key={sign} value={sign}>{words}</option>)}
        </select>
        <select
          aria-label={`Other side of ${label}`}
          aria-describedby={`rule-${index}-fault`}
          className={`${look} w-28! grow`}
          {...register(`rules.${index}.right`)}
        >
          {options}
          <option value={VALUE}>a value</option>
        </select>
        {watch(`rules.${index}.right`) === VALUE && (
          <input
            aria-label={`Value of ${label}`}
            aria-invalid={error !== undefined}
            aria-describedby={`rule-${index}-fault`}
            inputMode="decimal"
            autoComplete="off"
            className={`${look} w-20!`}
            {...register(`rules.${index}.value`)}
          />
        )}
        <Button kind="quiet" className="px-2" aria-label={`Remove ${label}`} onClick={remove}>✕</Button>
      </div>
      <p id={`rule-${index}-fault`} role="alert" className="text-xs break-words text-danger">{error}</p>
    </div>
  );
}

/** Closed until somebody wants it, there is a text in it, or it is wrong. */
function TextForm({ form }: { readonly form: UseFormReturn<PlanForm> }) {
  const { register, watch, formState: { errors } } = form;
  const [isWanted, setWanted] = useState(false);
  const error = errors.constraints?.message;
  const isOpen = isWanted || error !== undefined || watch("constraints") !== "";
  return (
    <details className="mt-3" open={isOpen} onToggle={({ currentTarget }) => setWanted(currentTarget.open)}>
      <summary className="mb-2 rounded-md text-sm text-muted hover:bg-sunken">
        Type others, with + - * / in them
      </summary>
      <TextArea
        label="Constraints as text"
        hint="One in each line, such as slow - fast >= 5"
        error={error}
        isCode
        {...register("constraints")}
      />
    </details>
  );
}
