import { useQuery } from "@tanstack/react-query";
import { api } from "../../api.ts";
import { DeleteAccount } from "./delete_account.tsx";
import { PasswordForm } from "./password_form.tsx";
import { Sessions } from "./sessions.tsx";
import { Tokens } from "./tokens.tsx";

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
