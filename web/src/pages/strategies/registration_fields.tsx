import type { UseFormReturn } from "react-hook-form";
import { CheckField, Field, SelectField, TextArea } from "../../parts/field.tsx";
import { TIMEFRAMES } from "../../parts/candle_timeframes.ts";
import { findObjectFault, LANGUAGE_HINTS, type RegistrationForm, toSlug, VERSION_RULE } from "./registration_form.ts";
import type { AddWay } from "./strategies_search.ts";

const SCHEMA_HINT = "JSON Schema of its parameters: the form for a new run is made of it";
const SCHEMA_HINTS: Readonly<Record<AddWay, string>> = {
  script: `${SCHEMA_HINT}. Without properties, it is read from the script`,
  wasm: SCHEMA_HINT,
  remote: SCHEMA_HINT,
};

/** The fields of a strategy that the catalogue shows. */
export function RegistrationFields({ form, way }: {
  readonly form: UseFormReturn<RegistrationForm>;
  readonly way: AddWay;
}) {
  const { register, getValues, setValue, formState: { errors, dirtyFields } } = form;
  return (
    <>
      <div
        className={`grid items-start gap-x-4 gap-y-1.5 sm:grid-cols-2 ${
          // A script's fields have half of the page.
          way === "script" ? "2xl:grid-cols-4" : "lg:grid-cols-4"}`}
      >
        <Field
          label="Name"
          autoComplete="off"
          error={errors.name?.message}
          {...register("name", {
            required: "Enter a name",
            maxLength: { value: 100, message: "Use at most 100 characters" },
            onChange: () => !dirtyFields.slug && setValue("slug", toSlug(getValues("name"))),
          })}
        />
        <Field
          label="Slug"
          autoComplete="off"
          spellCheck={false}
          hint="Its name in addresses; it cannot be changed"
          error={errors.slug?.message}
          {...register("slug", {
            required: "Enter a slug",
            pattern: {
              value: /^[a-z0-9]+([-_][a-z0-9]+)*$/,
              message: "Use a-z and 0-9, with single hyphens between",
            },
          })}
        />
        <Field
          label="Version"
          autoComplete="off"
          error={errors.version?.message}
          {...register("version", { pattern: VERSION_RULE })}
        />
        <Field
          label="Language"
          autoComplete="off"
          hint={LANGUAGE_HINTS[way]}
          error={errors.language?.message}
          {...register("language", { required: "Enter the language" })}
        />
        <SelectField
          label="Default timeframe"
          hint="For backtests that name none"
          options={TIMEFRAMES.map((value) => ({ value, label: value }))}
          error={errors.timeframe?.message}
          {...register("timeframe")}
        />
        <Field
          label="Candles before the start"
          inputMode="numeric"
          hint="To warm it up"
          error={errors.lookback?.message}
          {...register("lookback", { pattern: { value: /^\d{1,5}$/, message: "Enter a whole number up to 10000" } })}
        />
        <CheckField label="Public" hint="Everyone can see and run it" {...register("isPublic")} />
      </div>
      <TextFields form={form} way={way} />
    </>
  );
}

function TextFields({ form: { register, formState: { errors } }, way }: {
  readonly form: UseFormReturn<RegistrationForm>;
  readonly way: AddWay;
}) {
  return (
    <div className="grid items-start gap-x-4 lg:grid-cols-2">
      <TextArea
        label="Description"
        hint="The idea, when it earns and when it loses"
        error={errors.description?.message}
        {...register("description", { maxLength: { value: 4000, message: "Use at most 4000 characters" } })}
      />
      <TextArea
        label="Parameter schema"
        hint={SCHEMA_HINTS[way]}
        isCode
        error={errors.schema?.message}
        {...register("schema", {
          validate: (text) => findObjectFault(text, "Enter a JSON Schema: an object of type object"),
        })}
      />
    </div>
  );
}
