import { useState } from "react";
import type { FieldErrors, UseFormRegister } from "react-hook-form";
import { Field, SelectField } from "../../parts/field.tsx";
import type { ImportRequest } from "./import_route.ts";
import { IMPORT_FIELDS } from "./import_fields.ts";

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

interface ReadingProps {
  readonly register: UseFormRegister<Reading>;
  readonly errors: FieldErrors<Reading>;
}

/** The reading of a file, where it does not tell. */
export function ReadingFields({ register, errors }: ReadingProps) {
  return (
    <>
      <SelectField
        {...IMPORT_FIELDS.dateOrder}
        hint="Where a file does not tell"
        error={errors.dateOrder?.message}
        {...register("dateOrder")}
      />
      <SelectField
        {...IMPORT_FIELDS.decimalMark}
        hint="Where a file does not tell"
        error={errors.decimalMark?.message}
        {...register("decimalMark")}
      />
      <Field
        {...IMPORT_FIELDS.timezone}
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
          {...IMPORT_FIELDS.dialect}
          hint="The one that wrote the file"
          error={errors.dialect?.message}
          {...register("dialect")}
        />
        <SelectField
          {...IMPORT_FIELDS.timeUnit}
          hint="Of times that are numbers since 1970"
          error={errors.timeUnit?.message}
          {...register("timeUnit")}
        />
        <div className="sm:col-span-2">
          <Field
            {...IMPORT_FIELDS.columns}
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
