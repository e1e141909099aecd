import { Link, useLocation } from "@tanstack/react-router";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { requestReset, resetPassword } from "../../account_routes.ts";
import { RestError } from "../../call_rest.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { AccountSheet } from "./account_sheet.tsx";

/** Has a link mailed with which to set a new password. */
export function ForgotPasswordPage() {
  const [sentTo, setSentTo] = useState<string>();
  if (sentTo !== undefined) {
    return (
      <AccountSheet title="Look into your mail">
        <p role="status">If {sentTo} has an account, a link is on its way there. It counts for an hour.</p>
        <ToSignIn />
      </AccountSheet>
    );
  }
  return (
    <AccountSheet title="Forgot your password?">
      <OneField
        label="E-mail"
        type="email"
        autoComplete="username"
        button="Send me a link"
        check={(email) => /^\S+@\S+$/.test(email) ? true : "Enter an address like name@example.com"}
        act={async (email) => {
          await requestReset(email);
          setSentTo(email);
        }}
      />
      <ToSignIn />
    </AccountSheet>
  );
}

/** Sets a new password; the address's fragment is the token of the mailed link. */
export function ResetPasswordPage() {
  const token = useLocation().hash;
  const [isDone, setIsDone] = useState(false);
  if (isDone) {
    return (
      <AccountSheet title="Your password is set">
        <p role="status">Everybody who was signed in to the account is signed out, and its tokens are revoked.</p>
        <ToSignIn />
      </AccountSheet>
    );
  }
  if (token === "") {
    return (
      <AccountSheet title="This link is not whole">
        <p>Copy it from the mail up to its end.</p>
        <ToSignIn />
      </AccountSheet>
    );
  }
  return (
    <AccountSheet title="Set a new password">
      <OneField
        label="New password"
        type="password"
        autoComplete="new-password"
        button="Set the password"
        hint="At least 8 characters"
        check={(password) => password.length >= 8 ? true : "Use at least 8 characters"}
        act={async (password) => {
          await resetPassword(token, password);
          setIsDone(true);
        }}
      />
      <ToSignIn />
    </AccountSheet>
  );
}

function ToSignIn() {
  return (
    <p className="mt-4 text-center text-sm text-muted">
      <Link to="/sign-in" className="text-accent underline">Back to sign in</Link>
    </p>
  );
}

function OneField({ label, type, autoComplete, button, hint, check, act }: {
  readonly label: string;
  readonly type: "email" | "password";
  readonly autoComplete: string;
  readonly button: string;
  readonly hint?: string;
  readonly check: (value: string) => true | string;
  readonly act: (value: string) => Promise<void>;
}) {
  const { register, handleSubmit, setError, formState: { errors, isSubmitting } } = useForm<{ value: string }>();
  const submit = handleSubmit(async ({ value }) => {
    try {
      await act(value);
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
      const [issue] = error.issues;
      setError("value", { message: issue === undefined ? error.message : `It ${issue.message}` }, {
        shouldFocus: true,
      });
    }
  });
  return (
    <form noValidate onSubmit={submit}>
      <Field
        label={label}
        type={type}
        autoComplete={autoComplete}
        autoFocus
        hint={hint}
        error={errors.value?.message}
        {...register("value", { validate: check })}
      />
      <Button type="submit" kind="primary" className="mt-4 h-9 w-full" disabled={isSubmitting}>
        {isSubmitting ? "One moment …" : button}
      </Button>
    </form>
  );
}
