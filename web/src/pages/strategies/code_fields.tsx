import type { ReactNode } from "react";
import { useController, type UseFormReturn } from "react-hook-form";
import { Field, SelectField } from "../../parts/field.tsx";
import type { CodeRefusal } from "./code_refusal.ts";
import { ModuleDrop } from "./module_drop.tsx";
import { type ModuleFile, PERIODS, type RegistrationForm } from "./registration_form.ts";
import { ScriptWorkbench } from "./script_workbench.tsx";
import type { AddWay } from "./strategies_search.ts";
import { findPlace } from "./editor/script_place.ts";

const MODES = [
  { value: "batch", label: "batch: one call for the whole run" },
  { value: "step", label: "step: a call for each candle" },
  { value: "portfolio", label: "portfolio: all markets in one call" },
] as const;
const ASKED = [
  { value: "", label: "at each close" },
  ...PERIODS.map((value) => ({ value, label: `once a ${value}` })),
];

interface FormProps {
  readonly form: UseFormReturn<RegistrationForm>;
}

/**
 * The code of a version in a form: a script, a module or an endpoint, with the report of the check that refused it.
 *
 * @param onModule Called when a module is chosen.
 * @param onRun Called when a script is run.
 * @param children The other fields of the form.
 */
export function CodeFields({ form, way, refusal, onModule, onRun, children }: FormProps & {
  readonly way: AddWay;
  readonly refusal: CodeRefusal | null;
  readonly onModule: (module: ModuleFile) => void;
  readonly onRun: () => void;
  readonly children: ReactNode;
}) {
  const report = refusal !== null && <Refused {...refusal} />;
  if (way === "script") {
    return (
      <ScriptWorkbench form={form} refusal={refusal?.reason ?? ""} onRun={onRun}>
        {report}
        {children}
      </ScriptWorkbench>
    );
  }
  return (
    <>
      {way === "remote" ? <EndpointFields form={form} /> : <ModuleField form={form} onModule={onModule} />}
      {report}
      {children}
    </>
  );
}

function ModuleField({ form: { control, setValue, setError }, onModule }: FormProps & {
  readonly onModule: (module: ModuleFile) => void;
}) {
  const { field, fieldState: { error } } = useController({
    control,
    name: "module",
    rules: { validate: (chosen) => chosen !== null || "Choose a module" },
  });
  return (
    <ModuleDrop
      module={field.value}
      error={error?.message}
      onChoose={(chosen) => {
        setValue("module", chosen, { shouldValidate: true });
        onModule(chosen);
      }}
      onRefuse={(message) => setError("module", { message })}
    />
  );
}

function EndpointFields({ form: { register, watch, formState: { errors } } }: FormProps) {
  return (
    <div className="grid items-start gap-x-4 sm:grid-cols-[2fr_1fr]">
      <Field
        label="Endpoint"
        inputMode="url"
        spellCheck={false}
        hint="An http or https address that the service may call, or serve:NAME for a program that fetches its requests"
        error={errors.endpoint?.message}
        {...register("endpoint", {
          required: "Enter an address",
          pattern: {
            value: /^(https?:\/\/\S+|serve:[a-z0-9-]{1,63})$/,
            message: "Enter an address like https://example.com/strategy, or serve:NAME",
          },
        })}
      />
      <SelectField label="Calls" options={MODES} error={errors.mode?.message} {...register("mode")} />
      {watch("mode") === "portfolio" && (
        <SelectField
          label="Asked"
          hint="Runs of it need instruments or a universe"
          options={ASKED}
          error={errors.every?.message}
          {...register("every")}
        />
      )}
    </div>
  );
}

/** The report of a check that refused a module or a script; for a script with the line that it names. */
function Refused({ subject, reason, source }: CodeRefusal) {
  const place = findPlace(reason);
  const fault = reason.replace(/^Cannot use the script: strategy\.ts:\d+:\d+: /, "");
  return (
    <div role="alert" className="mb-2 rounded-md border border-l-4 border-line border-l-danger p-3">
      <p className="font-semibold">
        <span aria-hidden="true" className="text-danger">✕</span> The {subject} did not pass its check
      </p>
      <p className="mt-1 break-words">{place !== null && `Line ${place.line}, column ${place.column}: `}{fault}</p>
      {place !== null && (
        <pre className="mt-1 overflow-x-auto rounded-md bg-sunken p-2 font-mono text-xs" tabIndex={0}>
          {`${source.split("\n")[place.line - 1]}\n${" ".repeat(place.column - 1)}^`}
        </pre>
      )}
      <p className="mt-1 text-sm text-muted">
        Nothing was stored.{" "}
        {subject === "module" ? "Mend the module and choose it again" : "Mend it and send it again"};{" "}
        <code className="font-mono">deno task strategy check</code> says the same without a service.
      </p>
    </div>
  );
}
