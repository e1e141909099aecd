import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { UseFormReturn } from "react-hook-form";
import { api, describeError, queryClient } from "../../api.ts";
import { CheckField, Field, SelectField } from "../../parts/field.tsx";
import { describeList, Picker } from "../../parts/picker.tsx";
import { FormSection } from "./form_section.tsx";
import { describeBounds, findFault, isNumber, type ParameterField, toField } from "../../parts/parameter_fields.ts";
import { chooseEntry, type Chosen, type RunForm } from "./run_form.ts";

const LIST_MAX = 100;

interface StrategyChoice {
  readonly chosen: Chosen;
  readonly choose: (chosen: Chosen) => void;
  /** Says whether a strategy that was chosen is still on its way. */
  readonly onLoading: (isLoading: boolean) => void;
}

/** The choice of a strategy, and a field for each of its parameters. */
export function StrategySection({ form, ...choice }: StrategyChoice & { readonly form: UseFormReturn<RunForm> }) {
  const { chosen } = choice;
  const { entry, fields } = chosen;
  return (
    <FormSection title="Strategy">
      <StrategyPicker {...choice} />
      <p className="text-sm break-words text-muted">{chosen.description}</p>
      {entry !== null && (
        <p className="mt-1 text-xs text-muted">
          Version {entry.latest_version} ·{" "}
          <Link to="/strategies/$slug" params={{ slug: entry.slug }} className="text-accent underline">
            About this strategy
          </Link>
        </p>
      )}
      {fields.length > 0 && (
        <fieldset className="mt-4 border-t border-line pt-3">
          <legend className="sr-only">Parameters</legend>
          <div key={entry?.slug} className="grid items-start gap-x-4 gap-y-2.5 sm:grid-cols-2">
            {fields.map((field, i) => <Parameter key={field.name} form={form} field={field} index={i} />)}
          </div>
        </fieldset>
      )}
    </FormSection>
  );
}

function StrategyPicker({ chosen, choose, onLoading }: StrategyChoice) {
  const [search, setSearch] = useState("");
  const [fault, setFault] = useState<string>();
  const newest = useRef("");
  const list = useQuery(
    api.strategies.summaries.queryOptions(
      { limit: LIST_MAX, ...(search === "" ? {} : { search: search.slice(0, 100) }) },
      { placeholderData: keepPreviousData },
    ),
  );
  const items = (list.data?.strategies ?? []).map(({ slug, name, description, source, is_owner }) => ({
    key: slug,
    name,
    detail: description,
    tag: source === "builtin" ? "Built in" : is_owner ? "Yours" : "Public",
  }));
  const pick = async (slug: string) => {
    newest.current = slug;
    setFault(undefined);
    onLoading(true);
    const found = await queryClient.fetchQuery(api.strategies.get.queryOptions({ slug }))
      .catch((reason: unknown) => describeError(reason));
    // The last choice counts, whichever answer comes last.
    if (newest.current !== slug) return;
    onLoading(false);
    if (typeof found === "string") setFault(found);
    else choose(chooseEntry(found.strategy));
  };
  return (
    <Picker
      label="Strategy"
      searchLabel="Search strategies"
      chosen={{ key: chosen.entry?.slug ?? "", name: chosen.name }}
      items={items}
      {...describeList(list, items.length)}
      error={fault}
      onSearch={setSearch}
      onPick={(slug) => void pick(slug)}
    />
  );
}

/** A control for a parameter of the strategy. */
export function Parameter({ form, field, index }: {
  readonly form: UseFormReturn<RunForm>;
  readonly field: ParameterField;
  readonly index: number;
}) {
  const { name, types, description, choices, default: fallback } = field;
  const error = form.formState.errors.parameters?.[index]?.message;
  const hint = [description, choices === null ? describeBounds(field) : ""].filter(Boolean).join(" · ");
  const control = form.register(`parameters.${index}`, { validate: (typed) => findFault(field, typed) });
  if (types.includes("boolean") || typeof fallback === "boolean") {
    return <CheckField label={name} hint={hint} error={error} {...control} />;
  }
  if (choices !== null) {
    const texts = choices.map((choice) => String(toField(choice)));
    const options = [...(fallback === undefined ? [{ value: "", label: "not set" }] : []), ...texts.map(toOption)];
    return <SelectField label={name} hint={hint} error={error} options={options} {...control} />;
  }
  return (
    <Field
      label={name}
      hint={hint}
      error={error}
      inputMode={isNumber(field) ? "decimal" : "text"}
      autoComplete="off"
      spellCheck={false}
      {...control}
    />
  );
}

function toOption(value: string) {
  return { value, label: value };
}
