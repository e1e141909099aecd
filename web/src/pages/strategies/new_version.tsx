import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useForm, type UseFormReturn } from "react-hook-form";
import { api, codeOf, describeError, issuesOf, type Strategy, type StrategyRequest } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Field, SelectField } from "../../parts/field.tsx";
import { ModuleDrop } from "./module_drop.tsx";
import { Refused } from "./refused.tsx";
import { MODES } from "./registration_fields.tsx";
import type { ModuleFile } from "./registration_form.ts";

interface Values {
  readonly version: string;
  readonly endpoint: string;
  readonly mode: "batch" | "step";
}

/** Adds a version to a strategy of the user's own: another module, or another endpoint. Older versions stay. */
export function NewVersion({ strategy, onDone }: { readonly strategy: Strategy; readonly onDone: () => void }) {
  const { slug, runtime_type, latest_version, runtime } = strategy;
  const queries = useQueryClient();
  const [module, setModule] = useState<ModuleFile | null>(null);
  const [moduleFault, setModuleFault] = useState<string>();
  const form = useForm<Values>({
    defaultValues: {
      version: nextVersion(latest_version),
      endpoint: String(runtime["endpoint"] ?? ""),
      mode: runtime["mode"] === "step" ? "step" : "batch",
    },
  });
  const { handleSubmit, setError, formState: { errors, isSubmitting } } = form;
  const add = useMutation(api.strategies.addVersion.mutationOptions());
  const [isModule, isRefused] = [runtime_type === "wasm", codeOf(add.error) === "INVALID_MODULE"];
  const submit = handleSubmit(async ({ version, endpoint, mode }) => {
    if (isModule && module === null) return setModuleFault("Choose a module");
    try {
      const runtime_config = toRuntimeConfig(strategy, module, endpoint.trim(), mode);
      await add.mutateAsync({ slug, version: { version: version.trim(), runtime_config } });
    } catch (error) {
      return showRefusal(error);
    }
    await queries.invalidateQueries({ queryKey: api.strategies.pathKey() });
    onDone();
  });
  const showRefusal = (error: unknown) => {
    const code = codeOf(error);
    if (code === "INVALID_MODULE") return;
    if (code === "VERSION_EXISTS") {
      return setError("version", { message: describeError(error) }, { shouldFocus: true });
    }
    for (const { path, message } of issuesOf(error)) {
      const field = (["version", "endpoint", "mode"] as const).find((each) => path.endsWith(`/${each}`));
      if (field !== undefined) return setError(field, { message: `It ${message}` }, { shouldFocus: true });
    }
    setError("root", { message: describeError(error) });
  };
  return (
    <form
      noValidate
      onSubmit={submit}
      aria-label="New version"
      className="rounded-lg border border-line bg-surface p-4"
    >
      <p className="mb-2 text-sm text-muted">Runs take the newest version. Older ones stay, for runs that name them.</p>
      {isModule && (
        <ModuleDrop
          module={module}
          error={moduleFault}
          onChoose={(chosen) => {
            setModule(chosen);
            setModuleFault(undefined);
            add.reset();
          }}
          onRefuse={setModuleFault}
        />
      )}
      {isRefused && <Refused subject="module" reason={describeError(add.error)} source="" />}
      <Fields form={form} latest={latest_version} isModule={isModule} />
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" kind="primary" disabled={isSubmitting}>
          {isSubmitting && isModule ? "Checking the module …" : "Add the version"}
        </Button>
        <Button onClick={onDone}>Cancel</Button>
        <p role="alert" className="min-w-0 text-sm break-words text-danger">{errors.root?.message}</p>
      </div>
    </form>
  );
}

/** The runtime of the new version; what the form does not offer stays as it is. */
function toRuntimeConfig(
  { runtime: { lookbackCandles, timeoutMs } }: Strategy,
  module: ModuleFile | null,
  endpoint: string,
  mode: Values["mode"],
): StrategyRequest["initial_version"]["runtime_config"] {
  const kept = typeof lookbackCandles === "number" ? { lookbackCandles } : {};
  if (module !== null) {
    return { type: "wasm", artifact: { file_name: module.name, content_base64: module.base64 }, ...kept };
  }
  return { type: "remote", endpoint, mode, ...kept, ...(typeof timeoutMs === "number" ? { timeoutMs } : {}) };
}

function Fields({ form: { register, formState: { errors } }, latest, isModule }: {
  readonly form: UseFormReturn<Values>;
  readonly latest: string;
  readonly isModule: boolean;
}) {
  return (
    <div className="grid items-start gap-x-4 sm:grid-cols-[10rem_2fr_1fr]">
      <Field
        label="Version"
        autoFocus
        autoComplete="off"
        hint={`Above ${latest}`}
        error={errors.version?.message}
        {...register("version", { required: "Enter a version" })}
      />
      {!isModule && (
        <>
          <Field
            label="Endpoint"
            type="url"
            inputMode="url"
            error={errors.endpoint?.message}
            {...register("endpoint", { required: "Enter an address" })}
          />
          <SelectField label="Calls" options={MODES} error={errors.mode?.message} {...register("mode")} />
        </>
      )}
    </div>
  );
}

/** The version after another: `1.0.9` is followed by `1.0.10`. */
function nextVersion(version: string): string {
  return version.replace(/\d+$/, (last) => String(Number(last) + 1));
}
