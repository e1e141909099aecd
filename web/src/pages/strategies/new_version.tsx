import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { api, codeOf, describeError, type Strategy } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { useDraft } from "../../parts/draft.ts";
import { DraftNote } from "../../parts/draft_note.tsx";
import { Field } from "../../parts/field.tsx";
import { showRefusal } from "../../parts/show_refusal.ts";
import { CodeFields } from "./code_fields.tsx";
import { codeRefusalOf } from "./code_refusal.ts";
import {
  PERIODS,
  registrationFieldAt,
  type RegistrationForm,
  startValues,
  toRuntimeConfig,
  VERSION_RULE,
} from "./registration_form.ts";
import type { AddWay } from "./strategies_search.ts";
import { useSource } from "./use_source.ts";

interface VersionProps {
  readonly strategy: Strategy;
  readonly onDone: () => void;
}

/** Adds a version to a strategy of the user's own: another script, module or endpoint. Older versions stay. */
export function NewVersion({ strategy, onDone }: VersionProps) {
  const { slug, runtime_type: way, latest_version } = strategy;
  const { data: source, error } = useSource(slug, latest_version, way === "script");
  if (way === "builtin") return null;
  return (
    <section className="rounded-lg border border-line bg-surface p-4">
      <p className="mb-2 text-sm text-muted">Runs take the newest version. Older ones stay, for runs that name them.</p>
      {way === "script" && source === undefined
        ? (
          <p role={error ? "alert" : "status"} className="min-h-96 text-muted">
            {error ? describeError(error) : "Loading the script …"}
          </p>
        )
        : <VersionForm way={way} source={source ?? ""} strategy={strategy} onDone={onDone} />}
    </section>
  );
}

function VersionForm({ way, source, strategy, onDone }: VersionProps & {
  readonly way: AddWay;
  /** The text of the newest version of a script. */
  readonly source: string;
}) {
  const { slug, latest_version, runtime } = strategy;
  const queries = useQueryClient();
  const form = useForm<RegistrationForm>({
    defaultValues: {
      ...startValues(way),
      source,
      version: "",
      endpoint: String(runtime["endpoint"] ?? ""),
      mode: runtime["mode"] === "step" || runtime["mode"] === "portfolio" ? runtime["mode"] : "batch",
      every: PERIODS.find((each) => each === runtime["every"]) ?? "",
    },
  });
  const draft = useDraft(form, `version ${slug}`, "module");
  const { register, setError, formState: { errors, isSubmitting } } = form;
  const add = useMutation(api.strategies.addVersion.mutationOptions());
  const submit = form.handleSubmit(async (values) => {
    const number = values.version.trim();
    const runtime_config = { ...toRuntimeConfig(values, way), ...keptOf(strategy) };
    try {
      await add.mutateAsync({ slug, version: { ...(number === "" ? {} : { version: number }), runtime_config } });
    } catch (error) {
      // The report of a check says it in full.
      if (codeRefusalOf(error) !== null) return;
      if (codeOf(error) === "VERSION_EXISTS") {
        return setError("version", { message: describeError(error) }, { shouldFocus: true });
      }
      return showRefusal(setError, error, (path) => registrationFieldAt(`/strategy/initial_${path.slice(1)}`));
    }
    draft.drop();
    await queries.invalidateQueries({ queryKey: api.strategies.pathKey() });
    onDone();
  });
  const submitted = add.variables?.version;
  const refusal = codeRefusalOf(add.error, typeof submitted === "object" ? submitted.runtime_config : undefined);
  return (
    <form noValidate onSubmit={submit} aria-label="New version" className="flex flex-col gap-2">
      <DraftNote draft={draft} onAnew={() => form.reset()} />
      <CodeFields form={form} way={way} refusal={refusal} onModule={() => add.reset()} onRun={() => add.reset()}>
        <div className="max-w-40">
          <Field
            label="Version"
            autoFocus
            autoComplete="off"
            hint={`Above ${latest_version}; empty: the next one`}
            error={errors.version?.message}
            {...register("version", { pattern: VERSION_RULE })}
          />
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <Button type="submit" kind="primary" disabled={isSubmitting}>
            {isSubmitting && way !== "remote" ? "Checking …" : "Add the version"}
          </Button>
          <Button onClick={onDone}>Cancel</Button>
          <p role="alert" className="min-w-0 text-sm break-words text-danger">{errors.root?.message}</p>
        </div>
      </CodeFields>
    </form>
  );
}

/** The settings of the newest version that the form does not offer. */
function keptOf({ runtime: { type, lookbackCandles, timeoutMs } }: Strategy) {
  return {
    ...(typeof lookbackCandles === "number" ? { lookbackCandles } : {}),
    ...(type === "remote" && typeof timeoutMs === "number" ? { timeoutMs } : {}),
  };
}
