import type { UseFormReturn } from "react-hook-form";
import type { ParameterField } from "../../../parts/parameter_fields.ts";
import type { RunForm } from "../../new_run/run_form.ts";

// A slider reaches from a quarter of a value to four times of it, within the parameter's bounds.
const REACH = 4;
const STEPS = 100;

/** A slider for a number; nothing for other parameters, and for a number that begins at 0 and has no largest value. */
export function Slider({ form, field, index, start }: {
  readonly form: UseFormReturn<RunForm>;
  readonly field: ParameterField;
  readonly index: number;
  readonly start: unknown;
}) {
  const { name, types, choices } = field;
  const isWhole = types.includes("integer");
  if (choices !== null || !(isWhole || types.includes("number")) || typeof start !== "number") return null;
  const { minimum, maximum } = field;
  const least = Math.max(minimum ?? -Infinity, start > 0 ? start / REACH : 0);
  const most = Math.min(maximum ?? Infinity, start > 0 ? start * REACH : maximum ?? 0);
  const [min, max] = isWhole ? [Math.floor(least), Math.ceil(most)] : [least, most];
  if (!(max > min)) return null;
  const step = isWhole ? 1 : Number(((max - min) / STEPS).toPrecision(1));
  const typed = Number(form.watch(`parameters.${index}`));
  return (
    <input
      type="range"
      aria-label={`${name}, slider`}
      className="mb-2 w-full accent-accent"
      {...{ min, max, step }}
      value={Number.isFinite(typed) ? typed : start}
      onChange={({ target }) =>
        form.setValue(`parameters.${index}`, String(Number(Number(target.value).toPrecision(6))), {
          shouldDirty: true,
          shouldValidate: true,
        })}
    />
  );
}
