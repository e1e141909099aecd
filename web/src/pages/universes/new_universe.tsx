import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useForm } from "react-hook-form";
import { api } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { useDraft } from "../../parts/draft.ts";
import { DraftNote } from "../../parts/draft_note.tsx";
import { CheckField, Field } from "../../parts/field.tsx";
import { showRefusal } from "../../parts/show_refusal.ts";
import { findMembersFault, MembersField } from "./members_field.tsx";

interface Values {
  readonly slug: string;
  readonly description: string;
  readonly is_public: boolean;
  readonly csv: string;
}

const FIELDS = ["slug", "description", "csv"] as const;

/** Makes a universe with its first version, and opens it. */
export function NewUniverse() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const create = useMutation(api.universes.create.mutationOptions());
  const form = useForm<Values>({ defaultValues: { slug: "", description: "", is_public: false, csv: "" } });
  const { register, handleSubmit, setError, setValue, formState: { errors, isSubmitting } } = form;
  const draft = useDraft(form, "universe");
  const submit = handleSubmit(async (values) => {
    try {
      const { universe } = await create.mutateAsync({ universe: { ...values, slug: values.slug.trim() } });
      draft.drop();
      await queries.invalidateQueries({ queryKey: api.universes.list.pathKey() });
      await navigate({ to: "/universes/$slug", params: { slug: universe.slug } });
    } catch (error) {
      showRefusal(setError, error, fieldAt);
    }
  });
  return (
    <form
      noValidate
      onSubmit={submit}
      aria-label="Make a universe"
      className="rounded-lg border border-line bg-surface p-4"
    >
      <DraftNote draft={draft} onAnew={() => form.reset()} />
      <div className="grid items-start gap-x-4 lg:grid-cols-2">
        <div>
          <Field
            label="Name"
            hint="Lower-case letters, digits and hyphens, such as us-large"
            autoFocus
            autoComplete="off"
            spellCheck={false}
            error={errors.slug?.message}
            {...register("slug", { required: "Enter a name" })}
          />
          <Field
            label="Description"
            autoComplete="off"
            error={errors.description?.message}
            {...register("description")}
          />
          <CheckField label="Public" hint="Others see it and run on it" {...register("is_public")} />
        </div>
        <MembersField
          error={errors.csv?.message}
          onFile={(text) => setValue("csv", text, { shouldValidate: true })}
          {...register("csv", { validate: findMembersFault })}
        />
      </div>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <Button type="submit" kind="primary" disabled={isSubmitting}>Make it</Button>
        <Button onClick={() => void navigate({ to: "/universes", search: {} })}>Cancel</Button>
        <p role="alert" className="min-w-0 text-sm break-words text-danger">{errors.root?.message}</p>
      </div>
    </form>
  );
}

function fieldAt(path: string) {
  const name = FIELDS.find((each) => path.startsWith(`/universe/${each}`));
  return name === undefined ? null : { name };
}
