import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useLocation, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useForm } from "react-hook-form";
import { signIn, signUp } from "../../account_routes.ts";
import { api, queryClient } from "../../api.ts";
import { OtherSignIn } from "./other_sign_in.tsx";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { AccountSheet } from "./account_sheet.tsx";
import { RestError } from "../../call_rest.ts";

interface Credentials {
  readonly email: string;
  readonly password: string;
}

const PASSWORD_LENGTH_MIN = 8;
const AFTER = "/runs";

/** Signs in, and goes on to where the visitor was going. */
export function SignInPage() {
  const { to } = getRouteApi("/sign-in").useSearch();
  const { data: policy } = useQuery(api.session.policy.queryOptions());
  return (
    <AccountPage title="Sign in" act={signIn} to={to ?? AFTER} passwordKind="current-password">
      {policy?.open_id && <OtherSignIn host={policy.open_id} to={to ?? AFTER} />}
      {policy?.password_reset && (
        <Link to="/forgot-password" className="mb-2 block text-accent underline">Forgot your password?</Link>
      )}
      {policy?.sign_up === "invite" && "New here? Ask an admin for an invitation."}
      {policy?.sign_up === "closed" && "New here? Ask an admin for an account."}
      {policy?.sign_up === "open" && (
        <>
          New here?{" "}
          <Link to="/sign-up" search={to === undefined ? {} : { to }} className="text-accent underline">
            Make an account
          </Link>
        </>
      )}
    </AccountPage>
  );
}

/** Makes an account, and goes on as after signing in. */
export function SignUpPage() {
  const { to } = getRouteApi("/sign-up").useSearch();
  const invitation = useLocation().hash;
  return (
    <AccountPage
      title="Make an account"
      act={(email, password) => signUp(email, password, invitation)}
      to={to ?? AFTER}
      passwordKind="new-password"
    >
      You have one?{" "}
      <Link to="/sign-in" search={to === undefined ? {} : { to }} className="text-accent underline">Sign in</Link>
    </AccountPage>
  );
}

function AccountPage({ title, act, to, passwordKind, children }: {
  readonly title: string;
  /** True if it signed in; else a mail comes first. */
  readonly act: (email: string, password: string) => Promise<boolean>;
  readonly to: string;
  readonly passwordKind: "current-password" | "new-password";
  readonly children: ReactNode;
}) {
  const navigate = useNavigate();
  const [mailedTo, setMailedTo] = useState<string>();
  const { register, handleSubmit, setError, formState: { errors, isSubmitting } } = useForm<Credentials>();
  const isNew = passwordKind === "new-password";
  const submit = handleSubmit(async ({ email, password }) => {
    try {
      if (!await act(email, password)) return setMailedTo(email);
    } catch (error) {
      return showRefusal(error, setError);
    }
    queryClient.clear();
    await navigate({ to });
  });
  if (mailedTo !== undefined) {
    return (
      <AccountSheet title="Look into your mail">
        <p role="status">Open the link that is on its way to {mailedTo}: it confirms the address and signs you in.</p>
      </AccountSheet>
    );
  }
  return (
    <AccountSheet title={title}>
      <form noValidate onSubmit={submit}>
        <Field
          label="E-mail"
          type="email"
          autoComplete="username"
          autoFocus
          error={errors.email?.message}
          {...register("email", {
            required: "Enter your e-mail address",
            pattern: { value: /^\S+@\S+$/, message: "Enter an address like name@example.com" },
          })}
        />
        <Field
          label="Password"
          type="password"
          autoComplete={passwordKind}
          hint={isNew ? `At least ${PASSWORD_LENGTH_MIN} characters` : undefined}
          error={errors.password?.message}
          {...register("password", {
            required: "Enter your password",
            ...(isNew
              ? {
                minLength: { value: PASSWORD_LENGTH_MIN, message: `Use at least ${PASSWORD_LENGTH_MIN} characters` },
              }
              : {}),
          })}
        />
        <p role="alert" className="min-h-5 text-sm text-danger">{errors.root?.message}</p>
        <Button type="submit" kind="primary" className="mt-2 h-9 w-full" disabled={isSubmitting}>
          {isSubmitting ? "One moment …" : title}
        </Button>
        <div className="mt-4 min-h-5 text-center text-sm text-muted">{children}</div>
      </form>
    </AccountSheet>
  );
}

/** Shows a refusal beside the field that it is about, else above the button. */
function showRefusal(error: unknown, setError: ReturnType<typeof useForm<Credentials>>["setError"]): void {
  if (!(error instanceof RestError)) throw error;
  let isShown = false;
  for (const { path, message } of error.issues) {
    const name = path === "/email" ? "email" : path === "/password" ? "password" : null;
    if (name === null) continue;
    setError(name, { message: `It ${message}` }, { shouldFocus: true });
    isShown = true;
  }
  if (!isShown) setError("root", { message: error.message });
}
