import type { UseFormReturn } from "react-hook-form";
import { Button } from "../../parts/button.tsx";
import { TIMEFRAMES } from "../../parts/candle_timeframes.ts";
import { Field, SelectField } from "../../parts/field.tsx";
import { FormSection } from "./form_section.tsx";
import { INPUTS_MAX, newInput } from "./inputs_form.ts";
import type { RunForm } from "./run_form.ts";

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,31}$/;
const OPTIONS = [{ value: "", label: "the run's own" }, ...TIMEFRAMES.map((value) => ({ value, label: value }))];

/** Names candles that the strategy reads and does not trade. */
export function InputsFields({ form }: { readonly form: UseFormReturn<RunForm> }) {
  const { register, watch, setValue, clearErrors, formState: { errors } } = form;
  const inputs = watch("inputs");
  const set = (next: typeof inputs) => {
    setValue("inputs", next);
    clearErrors("inputs");
  };
  return (
    <FormSection title="Other candles">
      <p className="mb-3 text-sm text-muted">
        The strategy reads them by their names and does not trade them. It sees each candle once it has closed.
      </p>
      {inputs.map((_, i) => {
        const faults = errors.inputs?.[i];
        const label = inputs[i]?.name.trim() || `input ${i + 1}`;
        return (
          <fieldset
            key={i}
            aria-label={`Input ${label}`}
            className="mb-2 grid grid-cols-2 gap-x-4 border-t border-line pt-2"
          >
            <Field
              label="Name"
              hint="As the code calls it"
              autoComplete="off"
              spellCheck={false}
              error={faults?.name?.message}
              {...register(`inputs.${i}.name`, {
                validate: (typed) =>
                  !NAME.test(typed.trim())
                    ? "Letters, digits and _, beginning with a letter"
                    : inputs.some((other, n) => n !== i && other.name.trim() === typed.trim())
                    ? "Another input has this name"
                    : undefined,
              })}
            />
            <SelectField
              label="Candles of"
              options={OPTIONS}
              error={faults?.timeframe?.message}
              {...register(`inputs.${i}.timeframe`)}
            />
            <Field
              label="Symbol"
              hint="Empty: the market's own"
              autoComplete="off"
              spellCheck={false}
              error={faults?.symbol?.message}
              {...register(`inputs.${i}.symbol`)}
            />
            <Field
              label="Exchange"
              hint="Empty: the market's own"
              autoComplete="off"
              spellCheck={false}
              error={faults?.exchange?.message}
              {...register(`inputs.${i}.exchange`)}
            />
            <Button
              kind="quiet"
              className="col-span-2 justify-self-start"
              onClick={() => set(inputs.filter((__, other) => other !== i))}
            >
              Remove {label}
            </Button>
          </fieldset>
        );
      })}
      <Button disabled={inputs.length >= INPUTS_MAX} onClick={() => set([...inputs, newInput(inputs)])}>
        Add an input
      </Button>
    </FormSection>
  );
}
