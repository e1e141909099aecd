import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { api } from "../../api.ts";
import { PasswordForm } from "./password_form.tsx";
import { Sessions } from "./sessions.tsx";
import { Tokens } from "./tokens.tsx";
import { deleteAccount } from "../../account_routes.ts";
import { RestError } from "../../call_rest.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";

interface Values {
  readonly password: string;
}

/** The user's account: its sessions, its tokens and its password. */
export function AccountPage() {
  const { data } = useQuery(api.session.get.queryOptions());
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
      <PasswordForm />
      <DeleteAccount />
    </div>
  );
}

/** Deletes the account, once its password confirms it. */
function DeleteAccount() {
  const queries = useQueryClient();
  const { register, handleSubmit, setError, formState: { errors, isSubmitting } } = useForm<Values>({
    defaultValues: { password: "" },
  });
  const submit = handleSubmit(async ({ password }) => {
    try {
      await deleteAccount(password);
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
      if (/invalid.password/i.test(`${error.code} ${error.message}`)) {
        return setError("password", { message: "This is not your password" }, { shouldFocus: true });
      }
      return setError("root", { message: error.message });
    }
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
          label="Password of this account"
          type="password"
          autoComplete="current-password"
          error={errors.password?.message}
          {...register("password", { required: "Enter your password" })}
        />
        <p role="alert" className="text-sm break-words text-danger">{errors.root?.message}</p>
        <Button type="submit" kind="danger" disabled={isSubmitting}>
          {isSubmitting ? "One moment …" : "Delete account"}
        </Button>
      </form>
    </section>
  );
}
