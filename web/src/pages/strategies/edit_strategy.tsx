import { useForm } from "react-hook-form";
import type { Strategy } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { useDraft } from "../../parts/draft.ts";
import { DraftNote } from "../../parts/draft_note.tsx";
import { Field, TextArea } from "../../parts/field.tsx";
import { isRecord } from "../../parts/parameter_fields.ts";
import { showRefusal } from "../../parts/show_refusal.ts";
import { findObjectFault } from "./registration_form.ts";
import { useStrategyUpdate } from "./use_strategy_update.ts";

interface Values {
  readonly name: string;
  readonly description: string;
  /** The value as JSON. */
  readonly default_config: string;
}

const FIELDS = ["name", "description", "default_config"] as const;

/** Changes the words and the default configuration of a strategy of the user's own. */
export function EditStrategy({ strategy, onDone }: { readonly strategy: Strategy; readonly onDone: () => void }) {
  const { slug, name, description, default_config } = strategy;
  const form = useForm<Values>({
    defaultValues: { name, description, default_config: JSON.stringify(default_config, null, 2) },
  });
  const { register, handleSubmit, setError, formState: { errors, isSubmitting } } = form;
  const draft = useDraft(form, `words of ${slug}`);
  const update = useStrategyUpdate(slug);
  const submit = handleSubmit(async (values) => {
    const config: unknown = JSON.parse(values.default_config);
    try {
      await update.mutateAsync({
        slug,
        strategy: { ...values, name: values.name.trim(), default_config: isRecord(config) ? config : {} },
      });
      draft.drop();
      onDone();
    } catch (error) {
      showRefusal(setError, error, fieldAt);
    }
  });
  return (
    <form
      noValidate
      onSubmit={submit}
      aria-label="Edit the strategy"
      className="rounded-lg border border-line bg-surface p-4"
    >
      <DraftNote draft={draft} onAnew={() => form.reset()} />
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
          {...register("default_config", { validate: (text) => findObjectFault(text, "Enter a JSON object") })}
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

function fieldAt(path: string) {
  const name = FIELDS.find((each) => path.startsWith(`/strategy/${each}`));
  return name === undefined ? null : { name, place: path.slice(`/strategy/${name}`.length) };
}
