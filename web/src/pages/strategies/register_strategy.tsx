import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useForm } from "react-hook-form";
import { api } from "../../api.ts";
import { Button, buttonClass } from "../../parts/button.tsx";
import { useDraft } from "../../parts/draft.ts";
import { DraftNote } from "../../parts/draft_note.tsx";
import { formatCount } from "../../parts/format.ts";
import { showRefusal } from "../../parts/show_refusal.ts";
import { CodeFields } from "./code_fields.tsx";
import { codeRefusalOf } from "./code_refusal.ts";
import { RegistrationFields } from "./registration_fields.tsx";
import {
  type ModuleFile,
  registrationFieldAt,
  type RegistrationForm,
  toRegistration,
  toSlug,
} from "./registration_form.ts";
import type { AddWay } from "./strategies_search.ts";

/** Registers a script, a module or an endpoint, and shows what its check found. */
export function RegisterStrategy({ way, start, from = "" }: {
  readonly way: AddWay;
  readonly start: RegistrationForm;
  /** The strategy that a script begins as. */
  readonly from?: string;
}) {
  const queries = useQueryClient();
  const form = useForm<RegistrationForm>({ defaultValues: start, mode: "onTouched" });
  const draft = useDraft(form, `strategy ${way} ${from}`, "module");
  const create = useMutation(api.strategies.create.mutationOptions());
  const submit = form.handleSubmit(async (values) => {
    try {
      const data = await create.mutateAsync({ strategy: toRegistration(values, way) });
      draft.drop();
      queries.setQueryData(api.strategies.get.queryKey({ slug: data.strategy.slug }), { strategy: data.strategy });
      await queries.invalidateQueries({ queryKey: api.strategies.summaries.pathKey() });
    } catch (error) {
      // The report of a check says it in full.
      if (codeRefusalOf(error) === null) showRefusal(form.setError, error, registrationFieldAt);
    }
  });
  const takeName = (module: ModuleFile) => {
    create.reset();
    if (form.getValues("name") !== "") return;
    const name = module.name.replace(/\.wasm$/i, "").replaceAll(/[-_]+/g, " ");
    form.setValue("name", name);
    form.setValue("slug", toSlug(name));
  };
  const { isSubmitting, errors: { root } } = form.formState;
  const refusal = codeRefusalOf(create.error, create.variables?.strategy.initial_version.runtime_config);
  if (create.data !== undefined) return <Accepted data={create.data} again={() => create.reset()} />;
  return (
    <form noValidate onSubmit={submit} aria-label="Register a strategy" className="flex flex-col gap-2">
      <DraftNote draft={draft} onAnew={() => form.reset()} />
      <CodeFields form={form} way={way} refusal={refusal} onModule={takeName} onRun={() => create.reset()}>
        <RegistrationFields form={form} way={way} />
        <div className="flex flex-wrap items-center gap-4">
          <Button type="submit" kind="primary" className="h-9 min-w-32" disabled={isSubmitting}>
            {isSubmitting ? way === "remote" ? "Registering …" : "Checking …" : "Register"}
          </Button>
          <p role="alert" className="min-w-0 text-sm break-words text-danger">{root?.message}</p>
        </div>
      </CodeFields>
    </form>
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
    <div role="status" tabIndex={-1} ref={reveal} className="scroll-mt-28 outline-none">
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

/** The report is where the long form was, above the button that was pressed. */
function reveal(report: HTMLDivElement | null): void {
  report?.focus();
}
