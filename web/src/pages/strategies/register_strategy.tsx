import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { api, codeOf, describeError, issuesOf } from "../../api.ts";
import { Button, buttonClass } from "../../parts/button.tsx";
import { formatCount } from "../../parts/format.ts";
import { ModuleDrop } from "./module_drop.tsx";
import { RegistrationFields } from "./registration_fields.tsx";
import {
  type ModuleFile,
  registrationFieldAt,
  type RegistrationForm,
  START_VALUES,
  toRegistration,
  toSlug,
} from "./registration_form.ts";
import type { AddWay } from "./strategies_search.ts";

/** Registers a module or an endpoint, and shows what its check found. */
export function RegisterStrategy({ way }: { readonly way: AddWay }) {
  const queries = useQueryClient();
  const form = useForm<RegistrationForm>({ defaultValues: START_VALUES, mode: "onTouched" });
  const [module, setModule] = useState<ModuleFile | null>(null);
  const [moduleFault, setModuleFault] = useState<string>();
  const create = useMutation(api.strategies.create.mutationOptions());
  const isModule = way === "wasm";
  const submit = form.handleSubmit(async (values) => {
    if (isModule && module === null) return setModuleFault("Choose a module");
    setModuleFault(undefined);
    try {
      const data = await create.mutateAsync({ strategy: toRegistration(values, isModule ? module : null) });
      queries.setQueryData(api.strategies.get.queryKey({ slug: data.strategy.slug }), { strategy: data.strategy });
      await queries.invalidateQueries({ queryKey: api.strategies.summaries.pathKey() });
    } catch (error) {
      showRefusal(error);
    }
  });
  const showRefusal = (error: unknown) => {
    // The report below the module says it in full.
    if (codeOf(error) === "INVALID_MODULE") return;
    let isShown = false;
    for (const { path, message } of issuesOf(error)) {
      const field = registrationFieldAt(path);
      if (field === null) continue;
      form.setError(field.name, { message: `${field.place || "It"} ${message}` }, { shouldFocus: !isShown });
      isShown = true;
    }
    if (!isShown) form.setError("root", { message: describeError(error) });
  };
  const chooseModule = (chosen: ModuleFile) => {
    setModule(chosen);
    setModuleFault(undefined);
    create.reset();
    if (form.getValues("name") !== "") return;
    const name = chosen.name.replace(/\.wasm$/i, "").replaceAll(/[-_]+/g, " ");
    form.setValue("name", name);
    form.setValue("slug", toSlug(name));
  };
  const { isSubmitting, errors: { root } } = form.formState;
  if (create.data !== undefined) return <Accepted data={create.data} again={() => create.reset()} />;
  return (
    <form noValidate onSubmit={submit} aria-label="Register a strategy" className="flex flex-col gap-2">
      {isModule && <ModuleDrop module={module} error={moduleFault} onChoose={chooseModule} onRefuse={setModuleFault} />}
      {codeOf(create.error) === "INVALID_MODULE" && <Refused reason={describeError(create.error)} />}
      <RegistrationFields form={form} way={way} />
      <div className="flex flex-wrap items-center gap-4">
        <Button type="submit" kind="primary" className="h-9 min-w-32" disabled={isSubmitting}>
          {isSubmitting ? isModule ? "Checking the module …" : "Registering …" : "Register"}
        </Button>
        <p role="alert" className="min-w-0 text-sm break-words text-danger">{root?.message}</p>
      </div>
    </form>
  );
}

function Refused({ reason }: { readonly reason: string }) {
  return (
    <div role="alert" className="mb-2 rounded-md border border-l-4 border-line border-l-danger p-3">
      <p className="font-semibold">
        <span aria-hidden="true" className="text-danger">✕</span> The module did not pass its check
      </p>
      <p className="mt-1 break-words">{reason}</p>
      <p className="mt-1 text-sm text-muted">
        Nothing was stored. Mend the module and choose it again; `deno task strategy check` says the same without a
        service.
      </p>
    </div>
  );
}

function Accepted({ data: { strategy, version }, again }: {
  readonly data: {
    readonly strategy: { readonly slug: string; readonly name: string; readonly runtime_type: string };
    readonly version: {
      readonly version: string;
      readonly sha256: string | null;
      readonly size_bytes: number | null;
    };
  };
  readonly again: () => void;
}) {
  const { slug, name } = strategy;
  return (
    <div role="status">
      <p className="font-semibold break-words">
        <span aria-hidden="true" className="text-gain">✓</span> {name} is registered, version {version.version}
      </p>
      {version.sha256 === null
        ? (
          <p className="mt-1 text-sm text-muted">
            Its address may be called. The endpoint itself is called first when a backtest runs: make a short run to
            test the connection.
          </p>
        )
        : (
          <ul className="mt-1 text-sm text-muted">
            <li>✓ Its imports, exports and sizes are those of the contract</li>
            <li>✓ It ran over sample candles within its limits</li>
            <li className="break-all">✓ {formatCount(version.size_bytes)} bytes, SHA-256 {version.sha256}</li>
          </ul>
        )}
      <div className="mt-3 flex flex-wrap gap-2">
        <Link to="/runs/new" search={{ strategy: slug }} className={buttonClass("primary")}>Run it</Link>
        <Link to="/strategies/$slug" params={{ slug }} className={buttonClass()}>See it</Link>
        <Button onClick={again}>Add another one</Button>
      </div>
    </div>
  );
}
