import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { UseFormReturn } from "react-hook-form";
import { api, type Instrument } from "../../api.ts";
import { Field, SelectField } from "../../parts/field.tsx";
import { formatCount, formatDate } from "../../parts/format.ts";
import { describeList, Picker } from "../../parts/picker.tsx";
import { TIMEFRAMES } from "../../parts/candle_timeframes.ts";
import { FormSection } from "./form_section.tsx";
import { dayAfter, fitTimeframe, type RunForm } from "./run_form.ts";

const LIST_MAX = 100;
const OTHER = { key: "", name: "Another instrument …", detail: "A provider is asked for its candles" };

/** The candles to run on, and the money to begin with. */
export function MarketSection({ form }: { readonly form: UseFormReturn<RunForm> }) {
  const { register, formState: { errors } } = form;
  return (
    <FormSection title="Market and account">
      <InstrumentPicker form={form} />
      <div className="mt-2 grid grid-cols-2 gap-x-4">
        <SelectField
          label="Timeframe"
          error={errors.timeframe?.message}
          options={TIMEFRAMES.map((value) => ({ value, label: value }))}
          {...register("timeframe")}
        />
        <Field
          label="Initial balance"
          inputMode="decimal"
          autoComplete="off"
          error={errors.balance?.message}
          {...register("balance", {
            validate: (typed) =>
              Number(typed) > 0 && Number(typed) <= 1e12 ? undefined : "Enter more than 0, at most 1e12",
          })}
        />
        <Field
          label="From (UTC)"
          type="date"
          error={errors.start?.message}
          {...register("start", { required: "Choose a date", deps: ["end"] })}
        />
        <Field
          label="To, exclusive"
          type="date"
          error={errors.end?.message}
          {...register("end", {
            required: "Choose a date",
            validate: (end, { start }) =>
              start === "" || end > start ? undefined : "Choose a later date than the first",
          })}
        />
      </div>
    </FormSection>
  );
}

/** Chooses what the archive holds, with its dates; anything else is typed. */
export function InstrumentPicker({ form }: { readonly form: UseFormReturn<RunForm> }) {
  const { register, watch, setValue, setFocus, formState: { errors } } = form;
  const [symbol, exchange] = watch(["symbol", "exchange"]);
  const [isOther, setOther] = useState(false);
  const [search, setSearch] = useState("");
  const list = useInstruments(search);
  const found = useInstruments(symbol);
  const held = found.data?.instruments.find((each) => each.symbol === symbol && each.exchange === exchange);
  // Until the answer for this symbol has come, nothing says that the archive lacks it.
  const isTyped = isOther || (found.isSuccess && !found.isPlaceholderData && held === undefined);
  const instruments = list.data?.instruments ?? [];
  const pick = (key: string) => {
    const instrument = instruments.find((each) => keyOf(each) === key);
    setOther(instrument === undefined);
    setValue("symbol", instrument?.symbol ?? "", { shouldValidate: instrument !== undefined });
    setValue("exchange", instrument?.exchange ?? "", { shouldValidate: instrument !== undefined });
    // The field appears with the next drawing.
    if (instrument === undefined) return void requestAnimationFrame(() => setFocus("symbol"));
    if (instrument.first === null || instrument.last === null) return;
    setValue("timeframe", fitTimeframe(watch("timeframe"), instrument), { shouldValidate: true });
    setValue("start", formatDate(instrument.first), { shouldValidate: true });
    setValue("end", dayAfter(instrument.last), { shouldValidate: true });
  };
  return (
    <>
      <Picker
        label="Instrument"
        searchLabel="Search instruments"
        chosen={isTyped ? OTHER : { key: JSON.stringify([symbol, exchange]), name: `${symbol} on ${exchange}` }}
        hint={describe(held, isTyped)}
        error={isTyped ? undefined : errors.symbol?.message ?? errors.exchange?.message}
        items={[...instruments.map(toItem), OTHER]}
        {...describeList(list, instruments.length)}
        onSearch={setSearch}
        onPick={pick}
      />
      {isTyped && (
        <div className="grid gap-x-4 sm:grid-cols-2">
          <Field
            label="Symbol"
            hint="Such as BTC/USDT, EUR/USD or AAPL"
            autoComplete="off"
            spellCheck={false}
            error={errors.symbol?.message}
            {...register("symbol", { required: "Enter a symbol", onChange: () => setOther(true) })}
          />
          <Field
            label="Exchange"
            hint="Such as BINANCE for crypto, DUKASCOPY for forex"
            autoComplete="off"
            spellCheck={false}
            error={errors.exchange?.message}
            {...register("exchange", { required: "Enter an exchange", onChange: () => setOther(true) })}
          />
        </div>
      )}
    </>
  );
}

/** The instruments that fit a search. */
export function useInstruments(search: string) {
  const input = { limit: LIST_MAX, ...(search === "" ? {} : { search: search.slice(0, 100) }) };
  return useQuery(api.marketData.instruments.queryOptions(input, { placeholderData: keepPreviousData }));
}

/** The line of an instrument in a list to choose from. */
export function toItem(instrument: Instrument) {
  const { symbol, exchange, assetClass, first, last, timeframes } = instrument;
  const dates = first === null ? "no candles yet" : `${formatDate(first)} to ${formatDate(last)}`;
  return {
    key: keyOf(instrument),
    name: `${symbol} on ${exchange}`,
    detail: [dates, timeframes.join(", ")].filter(Boolean).join(" · "),
    tag: assetClass,
  };
}

function describe(held: Instrument | undefined, isTyped: boolean): string {
  if (isTyped) return "Its candles are fetched when the run begins.";
  if (held === undefined) return "";
  if (held.first === null) return "No candles are held yet.";
  return `${formatCount(held.candles)} candles from ${formatDate(held.first)} to ${formatDate(held.last)} (UTC)`;
}

function keyOf({ symbol, exchange }: Instrument): string {
  return JSON.stringify([symbol, exchange]);
}
