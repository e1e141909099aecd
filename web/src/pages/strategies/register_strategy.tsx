import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { api, codeOf, describeError, issuesOf, type StrategyRequest } from "../../api.ts";
import { Button, buttonClass } from "../../parts/button.tsx";
import { formatCount } from "../../parts/format.ts";
import { ModuleDrop } from "./module_drop.tsx";
import { Refused } from "./refused.tsx";
import { RegistrationFields } from "./registration_fields.tsx";
import {
  type ModuleFile,
  registrationFieldAt,
  type RegistrationForm,
  startValues,
  toRegistration,
  toSlug,
} from "./registration_form.ts";
import { ScriptField } from "./script_field.tsx";
import type { AddWay } from "./strategies_search.ts";

/** Codes of a check that refused the code, and the words for what was checked. */
const VERDICTS = { INVALID_MODULE: "module", INVALID_SCRIPT: "script" } as const;

/** Registers a script, a module or an endpoint, and shows what its check found. */
export function RegisterStrategy({ way }: { readonly way: AddWay }) {
  const queries = useQueryClient();
  const form = useForm<RegistrationForm>({ defaultValues: startValues(way), mode: "onTouched" });
  const [module, setModule] = useState<ModuleFile | null>(null);
  const [moduleFault, setModuleFault] = useState<string>();
  const create = useMutation(api.strategies.create.mutationOptions());
  const isModule = way === "wasm";
  const submit = form.handleSubmit(async (values) => {
    if (isModule && module === null) return setModuleFault("Choose a module");
    setModuleFault(undefined);
    try {
      const data = await create.mutateAsync({ strategy: toRegistration(values, way, module) });
      queries.setQueryData(api.strategies.get.queryKey({ slug: data.strategy.slug }), { strategy: data.strategy });
      await queries.invalidateQueries({ queryKey: api.strategies.summaries.pathKey() });
    } catch (error) {
      showRefusal(error);
    }
  });
  const showRefusal = (error: unknown) => {
    // The report says it in full.
    if (verdictOf(error) !== null) return;
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
  const refused = verdictOf(create.error);
  const reason = describeError(create.error);
  if (create.data !== undefined) return <Accepted data={create.data} again={() => create.reset()} />;
  return (
    <form noValidate onSubmit={submit} aria-label="Register a strategy" className="flex flex-col gap-2">
      {isModule && <ModuleDrop module={module} error={moduleFault} onChoose={chooseModule} onRefuse={setModuleFault} />}
      {way === "script" && <ScriptField form={form} refusal={refused === null ? "" : reason} />}
      {refused !== null && <Refused subject={refused} reason={reason} source={sourceOf(create.variables?.strategy)} />}
      <RegistrationFields form={form} way={way} />
      <div className="flex flex-wrap items-center gap-4">
        <Button type="submit" kind="primary" className="h-9 min-w-32" disabled={isSubmitting}>
          {isSubmitting ? way === "remote" ? "Registering …" : "Checking …" : "Register"}
        </Button>
        <p role="alert" className="min-w-0 text-sm break-words text-danger">{root?.message}</p>
      </div>
    </form>
  );
}

/** The text of a script that was submitted; it may have been changed since. */
function sourceOf(strategy: StrategyRequest | undefined): string {
  const config = strategy?.initial_version.runtime_config;
  return config?.type === "script" ? config.source : "";
}

/** The kind of code that a check refused; null for any other error. */
function verdictOf(error: unknown): (typeof VERDICTS)[keyof typeof VERDICTS] | null {
  const code = codeOf(error);
  return code === "INVALID_MODULE" || code === "INVALID_SCRIPT" ? VERDICTS[code] : null;
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
            <li>
              ✓ {strategy.runtime_type === "script"
                ? "It compiles"
                : "Its imports, exports and sizes are those of the contract"}
            </li>
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
