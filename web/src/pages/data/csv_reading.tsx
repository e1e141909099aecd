import { useState } from "react";
import type { FieldErrors, UseFormRegister } from "react-hook-form";
import { Field, SelectField } from "../../parts/field.tsx";
import type { ImportRequest } from "./import_route.ts";

/** The parts of a file's reading that a user may force; empty ones are recognised. */
export type Reading = Pick<
  ImportRequest,
  "dateOrder" | "decimalMark" | "timezone" | "dialect" | "columns" | "timeUnit"
>;

export const AS_RECOGNISED: Reading = {
  dateOrder: "",
  decimalMark: "",
  timezone: "",
  dialect: "",
  columns: "",
  timeUnit: "",
};

const RECOGNISED = { value: "", label: "as recognised" };
const ORDERS = [
  RECOGNISED,
  { value: "dmy", label: "day, month, year" },
  { value: "mdy", label: "month, day, year" },
  { value: "ymd", label: "year, month, day" },
];
const MARKS = [
  RECOGNISED,
  { value: "point", label: "1234.5" },
  { value: "comma", label: "1234,5" },
];
const PROGRAMS = [
  RECOGNISED,
  { value: "binance", label: "Binance" },
  { value: "cryptodatadownload", label: "CryptoDataDownload" },
  { value: "dukascopy", label: "Dukascopy" },
  { value: "investing", label: "Investing.com" },
  { value: "metatrader4", label: "MetaTrader 4" },
  { value: "metatrader5", label: "MetaTrader 5" },
  { value: "nasdaq", label: "Nasdaq.com" },
  { value: "polygon", label: "Polygon" },
  { value: "stooq", label: "Stooq" },
  { value: "tradingview", label: "TradingView" },
  { value: "yahoo", label: "Yahoo" },
  { value: "yfinance", label: "yfinance" },
  { value: "plain", label: "another one" },
];
const UNITS = [
  RECOGNISED,
  { value: "s", label: "seconds" },
  { value: "ms", label: "milliseconds" },
  { value: "us", label: "microseconds" },
  { value: "ns", label: "nanoseconds" },
];

interface ReadingProps {
  readonly register: UseFormRegister<Reading>;
  readonly errors: FieldErrors<Reading>;
}

/** The reading of a file, where it does not tell. */
export function ReadingFields({ register, errors }: ReadingProps) {
  return (
    <>
      <SelectField
        label="Dates"
        hint="Where a file does not tell"
        error={errors.dateOrder?.message}
        options={ORDERS}
        {...register("dateOrder")}
      />
      <SelectField
        label="Decimals"
        hint="Where a file does not tell"
        error={errors.decimalMark?.message}
        options={MARKS}
        {...register("decimalMark")}
      />
      <Field
        label="Time zone"
        hint="Of times without one; UTC if empty"
        error={errors.timezone?.message}
        {...register("timezone")}
      />
    </>
  );
}

/** The reading of a file that is recognised wrongly: closed until somebody wants it, or a part of it is wrong. */
export function MoreReading({ register, errors }: ReadingProps) {
  const [isOpen, setOpen] = useState(false);
  const isWrong = [errors.dialect, errors.columns, errors.timeUnit].some((error) => error !== undefined);
  return (
    <details
      className="mt-1 rounded-md border border-line"
      open={isOpen || isWrong}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="flex flex-wrap items-baseline gap-x-2 rounded-md px-3 py-2 hover:bg-sunken">
        <span aria-hidden="true" className="w-3 text-xs text-muted">{isOpen ? "▾" : "▸"}</span>
        <span className="text-sm font-medium">More</span>
        <span className="ml-auto text-sm text-muted">For a file that is read wrongly</span>
      </summary>
      <div className="grid gap-x-4 gap-y-1 border-t border-line p-3 sm:grid-cols-2 lg:grid-cols-4">
        <SelectField
          label="Program"
          hint="The one that wrote the file"
          error={errors.dialect?.message}
          options={PROGRAMS}
          {...register("dialect")}
        />
        <SelectField
          label="Time unit"
          hint="Of times that are numbers since 1970"
          error={errors.timeUnit?.message}
          options={UNITS}
          {...register("timeUnit")}
        />
        <div className="sm:col-span-2">
          <Field
            label="Columns"
            hint="From left to right; - leaves one out. Also: clock (a separate time of day), ticker"
            error={errors.columns?.message}
            placeholder="time,open,high,low,close,volume,-"
            autoComplete="off"
            spellCheck={false}
            {...register("columns")}
          />
        </div>
      </div>
    </details>
  );
}
