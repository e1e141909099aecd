import type { UseFormReturn } from "react-hook-form";
import { Field, SelectField } from "../../../parts/field.tsx";
import { TIMEFRAMES } from "../../../parts/candle_timeframes.ts";
import { InstrumentPicker } from "../../new_run/market_section.tsx";
import type { RunForm } from "../../new_run/run_form.ts";

/** The candles that an editor's text runs on. */
export function TrialMarket({ form }: { readonly form: UseFormReturn<RunForm> }) {
  const { register, formState: { errors } } = form;
  return (
    <div className="grid grid-cols-2 items-start gap-x-4 sm:grid-cols-4">
      <div className="col-span-2 sm:col-span-4">
        <InstrumentPicker form={form} />
      </div>
      <SelectField
        label="Timeframe"
        error={errors.timeframe?.message}
        options={TIMEFRAMES.map((value) => ({ value, label: value }))}
        {...register("timeframe")}
      />
      <Field label="From (UTC)" type="date" {...register("start", { required: true })} />
      <Field label="To, exclusive" type="date" {...register("end", { required: true })} />
      <Field
        label="Initial balance"
        inputMode="decimal"
        autoComplete="off"
        {...register("balance", { required: true })}
      />
    </div>
  );
}
