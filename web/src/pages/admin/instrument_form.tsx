import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useForm, type UseFormReturn } from "react-hook-form";
import { api, type IngestedInstrument } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { TIMEFRAMES } from "../../parts/candle_timeframes.ts";
import { DeleteButton } from "../../parts/delete_button.tsx";
import { useDraft } from "../../parts/draft.ts";
import { DraftNote } from "../../parts/draft_note.tsx";
import { Field, SelectField } from "../../parts/field.tsx";
import { PROVIDER_NAMES } from "../../parts/provider_name.ts";
import { showRefusal } from "../../parts/show_refusal.ts";

/** The fields as typed; an empty text is none. */
interface Values {
  readonly symbol: string;
  readonly exchange: string;
  readonly assetClass: IngestedInstrument["assetClass"];
  readonly provider: "provider_a" | "provider_b" | "import";
  readonly timeframe: string;
  readonly backfill_from: string;
  readonly schedule: string;
  readonly currency: string;
}

const NEW: Values = {
  symbol: "",
  exchange: "",
  assetClass: "crypto",
  provider: "provider_a",
  timeframe: "1m",
  backfill_from: "",
  schedule: "",
  currency: "",
};
const CLASSES = ["crypto", "forex", "stock"].map((value) => ({ value, label: value }));
const PROVIDERS = [
  { value: "provider_a", label: PROVIDER_NAMES.provider_a },
  { value: "provider_b", label: PROVIDER_NAMES.provider_b },
  { value: "import", label: "Files alone" },
];
const FRAMES = [{ value: "", label: "none" }, ...TIMEFRAMES.map((value) => ({ value, label: value }))];

/** Adds an instrument to the archive, or changes where its candles come from and when. @param instrument Null for a new one. */
export function InstrumentForm({ instrument, onDone }: {
  readonly instrument: IngestedInstrument | null;
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const form = useForm<Values>({ defaultValues: instrument === null ? NEW : valuesOf(instrument) });
  const draft = useDraft(form, `instrument ${instrument?.id ?? ""}`);
  const { handleSubmit, setError, formState: { errors, isSubmitting } } = form;
  const add = useMutation(api.ingestion.addInstrument.mutationOptions());
  const change = useMutation(api.ingestion.updateInstrument.mutationOptions());
  const submit = handleSubmit(async (values) => {
    try {
      if (instrument === null) await add.mutateAsync({ instrument: newOf(values) });
      else await change.mutateAsync({ id: instrument.id, instrument: settingsOf(values) });
    } catch (error) {
      return showRefusal(setError, error, fieldAt);
    }
    draft.drop();
    await queries.invalidateQueries({ queryKey: api.ingestion.pathKey() });
    await queries.invalidateQueries({ queryKey: api.marketData.instruments.pathKey() });
    onDone();
  });
  const isNew = instrument === null;
  return (
    <form
      noValidate
      onSubmit={submit}
      aria-label={isNew ? "Add an instrument" : `Edit ${instrument.symbol}`}
      className="rounded-lg border border-line bg-surface p-4"
    >
      <h3 className="mb-2 font-semibold wrap-anywhere">
        {isNew ? "Add an instrument" : `${instrument.symbol} on ${instrument.exchange}`}
      </h3>
      <DraftNote draft={draft} onAnew={() => form.reset()} />
      <Fields form={form} isNew={isNew} />
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" kind="primary" disabled={isSubmitting}>{isNew ? "Add" : "Save"}</Button>
        <Button onClick={onDone}>Cancel</Button>
        {!isNew && <DeleteInstrument instrument={instrument} onDone={onDone} />}
        <p role="alert" className="min-w-0 text-sm break-words text-danger">{errors.root?.message}</p>
      </div>
    </form>
  );
}

function Fields({ form: { register, formState: { errors } }, isNew }: {
  readonly form: UseFormReturn<Values>;
  readonly isNew: boolean;
}) {
  return (
    <div className="grid items-start gap-x-4 sm:grid-cols-2 lg:grid-cols-4">
      {isNew && (
        <>
          <Field
            label="Symbol"
            autoFocus
            autoComplete="off"
            hint="As its provider spells it, such as BTCUSDT"
            error={errors.symbol?.message}
            {...register("symbol", { required: "Enter a symbol" })}
          />
          <Field
            label="Exchange"
            autoComplete="off"
            hint="Such as BINANCE"
            error={errors.exchange?.message}
            {...register("exchange", { required: "Enter an exchange" })}
          />
          <SelectField
            label="Class"
            options={CLASSES}
            error={errors.assetClass?.message}
            {...register("assetClass")}
          />
        </>
      )}
      <SelectField
        label="Provider"
        options={PROVIDERS}
        hint="A and B stand for feeds that the service's settings name"
        error={errors.provider?.message}
        {...register("provider")}
      />
      <SelectField label="Timeframe" options={FRAMES} error={errors.timeframe?.message} {...register("timeframe")} />
      <Field
        label="Fetch from"
        type="date"
        hint="The first day (UTC)"
        error={errors.backfill_from?.message}
        {...register("backfill_from")}
      />
      <Field
        label="Schedule"
        autoComplete="off"
        spellCheck={false}
        hint="Cron in UTC: 5 0 * * * is 00:05 each day"
        error={errors.schedule?.message}
        {...register("schedule")}
      />
      <Field
        label="Currency"
        autoComplete="off"
        spellCheck={false}
        hint="Of the prices, such as USD; empty: the account's"
        error={errors.currency?.message}
        {...register("currency")}
      />
    </div>
  );
}

function DeleteInstrument({ instrument: { id, symbol }, onDone }: {
  readonly instrument: IngestedInstrument;
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const remove = useMutation(api.ingestion.deleteInstrument.mutationOptions({
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: api.ingestion.pathKey() });
      await queries.invalidateQueries({ queryKey: api.marketData.instruments.pathKey() });
      onDone();
    },
  }));
  return (
    <DeleteButton
      title={`Delete ${symbol}?`}
      text="All its candles are deleted with it. Results of runs stay. This cannot be undone."
      label="Delete instrument"
      removal={remove}
      onConfirm={() => remove.mutate({ id })}
    />
  );
}

const FIELDS = [
  "symbol",
  "exchange",
  "assetClass",
  "provider",
  "timeframe",
  "backfill_from",
  "schedule",
  "currency",
] as const;

function fieldAt(path: string) {
  const name = FIELDS.find((each) => path === `/instrument/${each}`);
  return name === undefined ? null : { name };
}

function valuesOf({ provider, timeframe, backfill_from, schedule, currency, ...identity }: IngestedInstrument): Values {
  return {
    ...identity,
    // The service's own sample is not offered for a change.
    provider: provider === "sample" ? "import" : provider,
    timeframe: timeframe ?? "",
    backfill_from: backfill_from ?? "",
    schedule: schedule ?? "",
    currency: currency ?? "",
  };
}

function identityOf({ symbol, exchange, assetClass }: Values) {
  return { symbol: symbol.trim(), exchange: exchange.trim(), assetClass };
}

function newOf(values: Values) {
  const { currency, ...settings } = settingsOf(values);
  return { ...identityOf(values), ...settings, ...(currency === null ? {} : { currency }) };
}

function settingsOf({ provider, timeframe, backfill_from, schedule, currency }: Values) {
  return {
    provider,
    timeframe: TIMEFRAMES.find((each) => each === timeframe) ?? null,
    backfill_from: backfill_from || null,
    schedule: schedule.trim() || null,
    currency: currency.trim().toUpperCase() || null,
  };
}
