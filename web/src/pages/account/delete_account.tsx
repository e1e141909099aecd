import { useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { deleteAccount } from "../../account_routes.ts";
import { RestError } from "../../call_rest.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";

interface Values {
  readonly password: string;
}

/** Deletes the account, once its password confirms it. */
export function DeleteAccount() {
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
