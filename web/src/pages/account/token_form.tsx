import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { api, describeError, issuesOf, type TokenRequest } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Field, SelectField } from "../../parts/field.tsx";
import { ADMIN_SCOPE, SCOPES } from "./scopes.ts";

interface Values {
  readonly name: string;
  readonly scope: TokenRequest["scope"];
  readonly days: string;
}

const DAYS = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "366", label: "a year" },
];

/** Makes a token, and shows it this once. */
export function TokenForm({ isAdmin, onMade }: { readonly isAdmin: boolean; readonly onMade: () => void }) {
  const make = useMutation(api.tokens.create.mutationOptions({ onSuccess: onMade }));
  const { register, handleSubmit, reset, formState: { errors } } = useForm<Values>({
    defaultValues: { name: "", scope: "run", days: "90" },
  });
  const submit = handleSubmit(({ name, scope, days }) =>
    make.mutate({ token: { name, scope, expires_in_days: Number(days) } }, { onSuccess: () => reset() })
  );
  const issue = issuesOf(make.error).find(({ path }) => path === "/token/name");
  const nameError = errors.name?.message ?? (issue === undefined ? undefined : `It ${issue.message}`);
  return (
    <>
      <form
        noValidate
        onSubmit={submit}
        className="mb-3 grid items-start gap-x-3 rounded-lg border border-line bg-surface p-4 sm:grid-cols-[1fr_1fr_8rem_auto]"
      >
        <Field
          label="Name of the new token"
          hint="What uses it, such as nightly runs"
          autoComplete="off"
          error={nameError}
          {...register("name", { required: "Enter a name", setValueAs: (text: string) => text.trim() })}
        />
        <SelectField label="Scope" options={isAdmin ? [...SCOPES, ADMIN_SCOPE] : SCOPES} {...register("scope")} />
        <SelectField label="Expires after" options={DAYS} {...register("days")} />
        <Button type="submit" kind="primary" className="h-9 sm:mt-6" disabled={make.isPending}>Make a token</Button>
        <p role="alert" className="text-sm break-words text-danger sm:col-span-4">
          {make.error === null || issue !== undefined ? "" : describeError(make.error)}
        </p>
      </form>
      {make.data !== undefined && (
        <NewToken key={make.data.token.id} name={make.data.token.name} secret={make.data.secret} onDone={make.reset} />
      )}
    </>
  );
}

function NewToken({ name, secret, onDone }: {
  readonly name: string;
  readonly secret: string;
  readonly onDone: () => void;
}) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(secret);
    setCopied(true);
  };
  return (
    <div role="status" className="mb-3 rounded-lg border border-accent bg-surface p-4">
      <p className="mb-2 text-sm wrap-anywhere">
        This is <strong>{name}</strong>. Copy it now: it is not shown again.
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <code className="min-w-0 rounded-md bg-sunken px-2 py-1.5 text-sm break-all select-all">{secret}</code>
        <Button onClick={copy}>{isCopied ? "✓ Copied" : "Copy"}</Button>
        <Button kind="quiet" onClick={onDone}>Hide</Button>
      </div>
    </div>
  );
}
