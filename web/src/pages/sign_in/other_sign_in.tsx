import { useMutation } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { signInElsewhere } from "../../account_routes.ts";
import { Button } from "../../parts/button.tsx";

// The reasons that a browser comes back with.
const REASONS: Readonly<Record<string, string>> = {
  access_denied: "The provider has not signed you in.",
  account_not_linked: "This address has an account here already: sign in with its password.",
  banned: "An admin has closed this account.",
  email_not_found: "The provider gave no e-mail address.",
  email_not_verified: "Open the link that is on its way to your address first.",
};

/** Signs in through the provider of identities. */
export function OtherSignIn({ host, to }: { readonly host: string; readonly to: string }) {
  const { error: reason } = getRouteApi("/sign-in").useSearch();
  const { mutate, isPending, error } = useMutation({ mutationFn: () => signInElsewhere(to) });
  const refusal = reason === undefined ? undefined : REASONS[reason] ?? `Signing in failed (${reason}): try again.`;
  return (
    <div className="mb-3">
      <Button className="h-9 w-full" disabled={isPending} onClick={() => mutate()}>Sign in with {host}</Button>
      <p role="alert" className="text-sm break-words text-danger">{error?.message ?? refusal}</p>
    </div>
  );
}
