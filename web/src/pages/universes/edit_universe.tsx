import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { api, type Universe } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { useDraft } from "../../parts/draft.ts";
import { DraftNote } from "../../parts/draft_note.tsx";
import { CheckField, Field } from "../../parts/field.tsx";
import { showRefusal } from "../../parts/show_refusal.ts";
import { findMembersFault, MembersField } from "./members_field.tsx";

const PANEL = "rounded-lg border border-line bg-surface p-4";

/** Changes the words of a universe of the user's own. */
export function EditUniverse({ universe, onDone }: { readonly universe: Universe; readonly onDone: () => void }) {
  const { slug, description, is_public } = universe;
  const refresh = useRefresh();
  const update = useMutation(api.universes.update.mutationOptions({ onSuccess: refresh }));
  const form = useForm({ defaultValues: { description, is_public } });
  const { register, handleSubmit, setError, formState: { errors, isSubmitting } } = form;
  const draft = useDraft(form, `words of universe ${slug}`);
  const submit = handleSubmit(async (values) => {
    try {
      await update.mutateAsync({ slug, universe: values });
      draft.drop();
      onDone();
    } catch (error) {
      showRefusal(setError, error, (path) => path.startsWith("/universe/description") ? { name: "description" } : null);
    }
  });
  return (
    <form noValidate onSubmit={submit} aria-label="Edit the universe" className={PANEL}>
      <DraftNote draft={draft} onAnew={() => form.reset()} />
      <Field
        label="Description"
        autoFocus
        autoComplete="off"
        error={errors.description?.message}
        {...register("description")}
      />
      <CheckField label="Public" hint="Others see it and run on it" {...register("is_public")} />
      <Ending isSubmitting={isSubmitting} label="Save" onDone={onDone} error={errors.root?.message} />
    </form>
  );
}

/** Adds a version to a universe of the user's own. @param csv The members of the newest version. */
export function NewMembers({ universe: { slug, latest_version }, csv, onDone }: {
  readonly universe: Universe;
  readonly csv: string;
  readonly onDone: () => void;
}) {
  const refresh = useRefresh();
  const add = useMutation(api.universes.addVersion.mutationOptions({ onSuccess: refresh }));
  const form = useForm({ defaultValues: { csv } });
  const { register, handleSubmit, setError, setValue, formState: { errors, isSubmitting } } = form;
  const draft = useDraft(form, `members of ${slug}`);
  const submit = handleSubmit(async (version) => {
    try {
      await add.mutateAsync({ slug, version });
      draft.drop();
      onDone();
    } catch (error) {
      showRefusal(setError, error, (path) => path.startsWith("/version/csv") ? { name: "csv" } : null);
    }
  });
  return (
    <form noValidate onSubmit={submit} aria-label="New version" className={PANEL}>
      <DraftNote draft={draft} onAnew={() => form.reset()} />
      <MembersField
        rows={12}
        error={errors.csv?.message}
        onFile={(text) => setValue("csv", text, { shouldValidate: true })}
        {...register("csv", { validate: findMembersFault })}
      />
      <p className="mt-2 text-sm text-muted">Version {latest_version} and the runs that used it stay as they are.</p>
      <Ending
        isSubmitting={isSubmitting}
        label={`Add version ${latest_version + 1}`}
        onDone={onDone}
        error={errors.root?.message}
      />
    </form>
  );
}

function useRefresh() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: api.universes.pathKey() });
}

function Ending({ isSubmitting, label, onDone, error }: {
  readonly isSubmitting: boolean;
  readonly label: string;
  readonly onDone: () => void;
  readonly error: string | undefined;
}) {
  return (
    <div className="mt-2 flex flex-wrap items-center gap-2">
      <Button type="submit" kind="primary" disabled={isSubmitting}>{label}</Button>
      <Button onClick={onDone}>Cancel</Button>
      <p role="alert" className="min-w-0 text-sm break-words text-danger">{error}</p>
    </div>
  );
}
