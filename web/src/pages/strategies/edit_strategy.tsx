import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { api, describeError, issuesOf, type Strategy } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Field, TextArea } from "../../parts/field.tsx";
import { isRecord } from "../../parts/parameter_fields.ts";

interface Values {
  readonly name: string;
  readonly description: string;
  /** As JSON. */
  readonly default_config: string;
}

const FIELDS = ["name", "description", "default_config"] as const;

/** Changes the words and the default configuration of a strategy of the user's own. */
export function EditStrategy({ strategy, onDone }: { readonly strategy: Strategy; readonly onDone: () => void }) {
  const { slug, name, description, default_config } = strategy;
  const queries = useQueryClient();
  const { register, handleSubmit, setError, formState: { errors, isSubmitting } } = useForm<Values>({
    defaultValues: { name, description, default_config: JSON.stringify(default_config, null, 2) },
  });
  const update = useMutation(api.strategies.update.mutationOptions());
  const submit = handleSubmit(async (values) => {
    const config: unknown = JSON.parse(values.default_config);
    try {
      const data = await update.mutateAsync({
        slug,
        strategy: { ...values, name: values.name.trim(), default_config: isRecord(config) ? config : {} },
      });
      queries.setQueryData(api.strategies.get.queryKey({ slug }), data);
      await queries.invalidateQueries({ queryKey: api.strategies.summaries.pathKey() });
      onDone();
    } catch (error) {
      let isShown = false;
      for (const { path, message } of issuesOf(error)) {
        const field = FIELDS.find((each) => path.startsWith(`/strategy/${each}`));
        if (field === undefined) continue;
        const place = path.slice(`/strategy/${field}`.length) || "It";
        setError(field, { message: `${place} ${message}` }, { shouldFocus: !isShown });
        isShown = true;
      }
      if (!isShown) setError("root", { message: describeError(error) });
    }
  });
  return (
    <form
      noValidate
      onSubmit={submit}
      aria-label="Edit the strategy"
      className="rounded-lg border border-line bg-surface p-4"
    >
      <div className="max-w-md">
        <Field
          label="Name"
          autoFocus
          autoComplete="off"
          error={errors.name?.message}
          {...register("name", { required: "Enter a name" })}
        />
      </div>
      <div className="grid items-start gap-x-4 lg:grid-cols-2">
        <TextArea
          label="Description"
          hint="The idea, when it earns and when it loses"
          error={errors.description?.message}
          {...register("description")}
        />
        <TextArea
          label="Default configuration"
          isCode
          hint="Parameters as JSON; a run that names none takes these"
          error={errors.default_config?.message}
          {...register("default_config", { validate: findConfigFault })}
        />
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" kind="primary" disabled={isSubmitting}>Save</Button>
        <Button onClick={onDone}>Cancel</Button>
        <p role="alert" className="min-w-0 text-sm break-words text-danger">{errors.root?.message}</p>
      </div>
    </form>
  );
}

function findConfigFault(text: string): string | undefined {
  try {
    return isRecord(JSON.parse(text)) ? undefined : "Enter a JSON object";
  } catch (error) {
    return `This is no JSON: ${error instanceof Error ? error.message : error}`;
  }
}
