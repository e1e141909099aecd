import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { api } from "../../api.ts";
import { PasswordForm } from "./password_form.tsx";
import { Sessions } from "./sessions.tsx";
import { Tokens } from "./tokens.tsx";
import { deleteAccount, hasPassword } from "../../account_routes.ts";
import { listDrafts } from "../../parts/draft.ts";
import { RestError } from "../../call_rest.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";

interface Values {
  readonly proof: string;
}

/** The user's account: its sessions, its tokens and its password. */
export function AccountPage() {
  const { data } = useQuery(api.session.get.queryOptions());
  const { data: isByPassword } = useQuery({ queryKey: ["has-password"], queryFn: hasPassword });
  return (
    <div className="mx-auto flex w-full max-w-4xl flex-col gap-6">
      <header>
        <h1 className="text-xl font-semibold">Account</h1>
        <p className="min-h-5 text-sm break-all text-muted">
          {data === undefined ? "" : `${data.user.email}${data.user.role === "admin" ? ", an admin" : ""}`}
        </p>
      </header>
      <Sessions />
      {data !== undefined && <Tokens isAdmin={data.user.role === "admin"} />}
      {isByPassword && <PasswordForm />}
      {data !== undefined && isByPassword !== undefined && (
        <DeleteAccount isByPassword={isByPassword} email={data.user.email} />
      )}
    </div>
  );
}

/** Deletes the account, once its password confirms it, or its address where it has no password. */
function DeleteAccount({ isByPassword, email }: { readonly isByPassword: boolean; readonly email: string }) {
  const queries = useQueryClient();
  const { register, handleSubmit, setError, formState: { errors, isSubmitting } } = useForm<Values>({
    defaultValues: { proof: "" },
  });
  const submit = handleSubmit(async ({ proof }) => {
    try {
      await deleteAccount(isByPassword ? proof : undefined);
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
      if (/invalid.password/i.test(`${error.code} ${error.message}`)) {
        return setError("proof", { message: "This is not your password" }, { shouldFocus: true });
      }
      return setError("root", { message: error.message });
    }
    for (const key of listDrafts()) localStorage.removeItem(key);
    queries.clear();
    location.assign("/sign-in");
  });
  return (
    <section className="max-w-md">
      <h2 className="mb-2 text-lg font-semibold">Delete the account</h2>
      <form noValidate onSubmit={submit} className="rounded-lg border border-line bg-surface p-4">
        <p className="mb-3 text-sm text-muted">
          All your runs, strategies, universes and tokens go with it, at once and for good. To keep a copy, first run
          {" "}
          <code className="font-mono">hindcast export-account FOLDER</code> in a terminal.
        </p>
        <Field
          label={isByPassword ? "Password of this account" : "E-mail of this account"}
          type={isByPassword ? "password" : "email"}
          autoComplete={isByPassword ? "current-password" : "off"}
          error={errors.proof?.message}
          {...register("proof", {
            required: isByPassword ? "Enter your password" : "Enter your e-mail address",
            validate: (proof) => isByPassword || proof === email || `Enter ${email}`,
          })}
        />
        <p role="alert" className="text-sm break-words text-danger">{errors.root?.message}</p>
        <Button type="submit" kind="danger" disabled={isSubmitting}>
          {isSubmitting ? "One moment …" : "Delete account"}
        </Button>
      </form>
    </section>
  );
}
