import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { changePassword } from "../../account_routes.ts";
import { api } from "../../api.ts";
import { RestError } from "../../call_rest.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { SESSIONS_KEY } from "./sessions.tsx";

interface Values {
  readonly current: string;
  readonly chosen: string;
  readonly repeated: string;
}

const LENGTH_MIN = 8;

/** Changes the account's password. */
export function PasswordForm() {
  const queries = useQueryClient();
  const [isDone, setDone] = useState(false);
  const { register, handleSubmit, reset, setError, formState: { errors, isSubmitting } } = useForm<Values>({
    defaultValues: { current: "", chosen: "", repeated: "" },
  });
  const submit = handleSubmit(async ({ current, chosen }) => {
    setDone(false);
    try {
      await changePassword(current, chosen);
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
      const issue = error.issues.find(({ path }) => path === "/newPassword");
      if (issue !== undefined) return setError("chosen", { message: `It ${issue.message}` });
      if (/invalid.password/i.test(`${error.code} ${error.message}`)) {
        return setError("current", { message: "This is not your password" }, { shouldFocus: true });
      }
      return setError("root", { message: error.message });
    }
    reset();
    setDone(true);
    // The browser has a new session now.
    await queries.invalidateQueries({ queryKey: api.session.get.queryKey() });
    await queries.invalidateQueries({ queryKey: SESSIONS_KEY });
  });
  return (
    <section className="max-w-md">
      <h2 className="mb-2 text-lg font-semibold">Password</h2>
      <form noValidate onSubmit={submit} className="rounded-lg border border-line bg-surface p-4">
        <Field
          label="Current password"
          type="password"
          autoComplete="current-password"
          error={errors.current?.message}
          {...register("current", { required: "Enter your current password" })}
        />
        <Field
          label="New password"
          type="password"
          autoComplete="new-password"
          hint={`At least ${LENGTH_MIN} characters`}
          error={errors.chosen?.message}
          {...register("chosen", {
            required: "Enter a new password",
            minLength: { value: LENGTH_MIN, message: `Use at least ${LENGTH_MIN} characters` },
          })}
        />
        <Field
          label="New password again"
          type="password"
          autoComplete="new-password"
          error={errors.repeated?.message}
          {...register("repeated", {
            validate: (value, { chosen }) => value === chosen || "The two new passwords differ",
          })}
        />
        <p role="alert" className="text-sm break-words text-danger">{errors.root?.message}</p>
        <div className="mt-1 flex flex-wrap items-center gap-3">
          <Button type="submit" kind="primary" disabled={isSubmitting}>
            {isSubmitting ? "One moment …" : "Change password"}
          </Button>
          <p role="status" className="text-sm text-gain">
            {isDone ? "✓ Changed. All other sessions have ended." : ""}
          </p>
        </div>
      </form>
    </section>
  );
}
