import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { type ListedUser, removeUser, setUserPassword } from "../../account_routes.ts";
import { api, type UserQuotas } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete_button.tsx";
import { Field } from "../../parts/field.tsx";
import { formatCount } from "../../parts/format.ts";
import { showRefusal } from "../../parts/show_refusal.ts";

const LIMITS = [
  { name: "backtests_max", label: "Backtests that wait or run" },
  { name: "optimizations_max", label: "Optimizations that wait or run" },
  { name: "result_bytes_max", label: "Bytes of runs" },
  { name: "versions_max", label: "Versions of strategies" },
  { name: "registry_bytes_max", label: "Bytes of modules" },
] as const satisfies readonly { readonly name: keyof UserQuotas; readonly label: string }[];

/** A user's limits, and for others than the admin a new password and the end of the account. */
export function UserPanel({ user: { id, email }, isOwn, onClose, onRemoved }: {
  readonly user: ListedUser;
  readonly isOwn: boolean;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}) {
  const { data, error } = useQuery(api.users.quotas.queryOptions({ id }));
  const remove = useMutation({ mutationFn: () => removeUser(id), onSuccess: onRemoved });
  return (
    <section aria-label={`User ${email}`} className="mt-3 rounded-lg border border-line bg-surface p-4">
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <h3 className="mr-auto font-semibold wrap-anywhere">{email}</h3>
        {!isOwn && (
          <DeleteButton
            trigger="Delete the user"
            title={`Delete ${email}?`}
            text="The account goes with its sessions, tokens, runs, results and strategies. This cannot be undone."
            label="Delete for good"
            removal={remove}
            onConfirm={() => remove.mutate()}
          />
        )}
        <Button onClick={onClose}>Close</Button>
      </div>
      {data !== undefined && <LimitsForm id={id} quotas={data.quotas} />}
      <p role="alert" className="text-sm text-danger">{error?.message ?? ""}</p>
      {!isOwn && <PasswordForm id={id} email={email} />}
    </section>
  );
}

type Limits = Record<keyof UserQuotas, string>;

/** The user's own limits; an empty one is the service's. */
function LimitsForm({ id, quotas }: { readonly id: string; readonly quotas: UserQuotas }) {
  const queries = useQueryClient();
  const change = useMutation(api.users.changeQuotas.mutationOptions());
  const { register, handleSubmit, setError, formState } = useForm<Limits>(
    {
      values: {
        backtests_max: textOf(quotas.backtests_max),
        optimizations_max: textOf(quotas.optimizations_max),
        result_bytes_max: textOf(quotas.result_bytes_max),
        versions_max: textOf(quotas.versions_max),
        registry_bytes_max: textOf(quotas.registry_bytes_max),
      },
      // New limits from the service leave the fields that the admin has changed.
      resetOptions: { keepIsSubmitSuccessful: true, keepDirtyValues: true },
    },
  );
  // The form only knows which fields were typed in if somebody reads it.
  const { errors, isSubmitting, isSubmitSuccessful, dirtyFields: _ } = formState;
  const submit = handleSubmit(async (values) => {
    const limits = LIMITS.map(({ name }) => [name, values[name].trim() === "" ? null : Number(values[name])]);
    try {
      await change.mutateAsync({ id, quotas: Object.fromEntries(limits) });
    } catch (error) {
      return showRefusal(setError, error, (path) => {
        const name = LIMITS.find((limit) => path === `/quotas/${limit.name}`)?.name;
        return name === undefined ? null : { name };
      });
    }
    await queries.invalidateQueries({ queryKey: api.users.quotas.pathKey() });
  });
  return (
    <form noValidate onSubmit={submit} aria-label="Limits">
      <div className="grid gap-x-3 sm:grid-cols-2 lg:grid-cols-5">
        {LIMITS.map(({ name, label }) => (
          <Field
            key={name}
            label={label}
            inputMode="numeric"
            autoComplete="off"
            placeholder={String(quotas[name].service)}
            hint={`Uses ${formatCount(quotas[name].used)}`}
            error={errors[name]?.message}
            {...register(name)}
          />
        ))}
      </div>
      <div className="mt-2 flex flex-wrap items-center gap-3">
        <Button type="submit" disabled={isSubmitting}>Save the limits</Button>
        <p role="status" className="text-sm text-muted">
          {isSubmitSuccessful && errors.root === undefined ? "Saved." : "An empty limit is the service's."}
        </p>
        <p role="alert" className="text-sm text-danger">{errors.root?.message ?? ""}</p>
      </div>
    </form>
  );
}

function textOf({ own }: UserQuotas[keyof UserQuotas]): string {
  return own === null ? "" : String(own);
}

/** Sets a password for somebody who forgot theirs, where the service sends no mails or the mail does not reach them. */
function PasswordForm({ id, email }: { readonly id: string; readonly email: string }) {
  const { register, watch, reset } = useForm({ defaultValues: { password: "" } });
  const password = watch("password");
  const set = useMutation({ mutationFn: () => setUserPassword(id, password), onSuccess: () => reset() });
  return (
    <div className="mt-4 flex flex-wrap items-start gap-3 border-t border-line pt-3">
      <Field label="New password" type="password" autoComplete="new-password" {...register("password")} />
      <div className="sm:mt-6">
        {password !== "" && (
          <DeleteButton
            trigger="Set the password"
            title={`Set the password of ${email}?`}
            text="The old one counts no more, and all sessions and tokens of the user end."
            label="Set it"
            removal={set}
            onConfirm={() => set.mutate()}
          />
        )}
      </div>
      <p role="status" className="text-sm text-muted sm:mt-8">{set.isSuccess && password === "" ? "Set." : ""}</p>
    </div>
  );
}
