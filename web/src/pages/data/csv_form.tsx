import type { UseMutationResult } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { Button } from "../../parts/button.tsx";
import { Field, SelectField } from "../../parts/field.tsx";
import type { Timeframe } from "../../parts/candle_timeframes.ts";
import { RestError } from "../../call_rest.ts";
import { type CsvPreview, findHeld } from "./csv_preview.ts";
import { AS_RECOGNISED, MoreReading, type Reading, ReadingFields } from "./csv_reading.tsx";
import type { ImportAnswer, ImportRequest } from "./import_route.ts";
import { IMPORT_FIELDS, inFormWords, isImportField } from "./import_fields.ts";

interface Values extends Reading {
  readonly symbol: string;
  readonly exchange: string;
  readonly assetClass: string;
  readonly currency: string;
  readonly timeframe: Timeframe | "";
}

/** True if the archive has the instrument, or may have it: the service knows what is not found out here. */
async function isHeld(symbol: string, exchange: string): Promise<boolean> {
  const held = await findHeld(symbol).catch(() => null);
  return held?.some((each) => exchange.trim() === "" || each.exchange === exchange.trim()) ?? true;
}

/** Names the instrument and the timeframe of a file, and imports it. */
export function CsvForm({ file, preview, send }: {
  readonly file: File;
  readonly preview: CsvPreview;
  readonly send: UseMutationResult<ImportAnswer, Error, ImportRequest>;
}) {
  const { register, handleSubmit, setError, formState: { errors } } = useForm<Values>({
    defaultValues: {
      symbol: preview.symbol,
      exchange: preview.exchange,
      assetClass: "",
      currency: "",
      timeframe: preview.timeframe ?? "",
      ...AS_RECOGNISED,
    },
  });
  const submit = handleSubmit(async (values) => {
    await send.mutateAsync({ file, ...values }).catch((error: unknown) => {
      let isShown = false;
      for (const { path, message } of error instanceof RestError ? error.issues : []) {
        const name = path.slice(1);
        if (!isImportField(name)) continue;
        // A question about the file is a sentence; a fault of a field follows its name.
        const text = inFormWords(message);
        setError(name, { message: text.startsWith("Cannot") ? text : `It ${text}` }, { shouldFocus: true });
        isShown = true;
      }
      if (!isShown) setError("root", { message: error instanceof Error ? error.message : String(error) });
    });
  });
  return (
    <form noValidate onSubmit={submit}>
      <div className="grid gap-x-4 gap-y-1 sm:grid-cols-2 lg:grid-cols-4">
        <Field
          {...IMPORT_FIELDS.symbol}
          hint="Such as BTC/USDT or AAPL"
          error={errors.symbol?.message}
          {...register("symbol", { required: "Enter a symbol" })}
        />
        <Field
          {...IMPORT_FIELDS.exchange}
          hint="Such as BINANCE or XETRA"
          error={errors.exchange?.message}
          {...register("exchange", { required: "Enter an exchange" })}
        />
        <SelectField
          {...IMPORT_FIELDS.assetClass}
          hint="Needed for a new instrument"
          error={errors.assetClass?.message}
          {...register("assetClass", {
            validate: async (value, { symbol, exchange }) =>
              value !== "" || await isHeld(symbol, exchange) || "Choose one: the archive does not have this instrument",
          })}
        />
        <SelectField
          {...IMPORT_FIELDS.timeframe}
          hint={preview.timeframe === null ? undefined : `The file looks like ${preview.timeframe}`}
          error={errors.timeframe?.message}
          {...register("timeframe")}
        />
        <Field
          {...IMPORT_FIELDS.currency}
          hint="Such as EUR, where runs hold several"
          error={errors.currency?.message}
          {...register("currency")}
        />
        <ReadingFields register={register} errors={errors} />
      </div>
      <MoreReading register={register} errors={errors} />
      <p role="alert" className="min-h-5 text-sm break-words text-danger">{errors.root?.message}</p>
      <Button type="submit" kind="primary" className="mt-1" disabled={send.isPending}>
        {send.isPending ? "Importing …" : "Import"}
      </Button>
    </form>
  );
}
