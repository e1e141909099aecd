import { useMutation, useQuery } from "@tanstack/react-query";
import { api, describeError, readAnew, type Token } from "../../api.ts";
import { DeleteButton } from "../../parts/delete_button.tsx";
import { formatDate, formatTime } from "../../parts/format.ts";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";
import { TokenForm } from "./token_form.tsx";

const COLUMNS: readonly TableColumn[] = [
  { label: "Name", isText: true },
  { label: "Scope", isText: true, width: "5.5rem" },
  { label: "Since (UTC)", isText: true, width: "7rem" },
  { label: "Ends (UTC)", isText: true, width: "8rem" },
  { label: "Last used (UTC)", isText: true, width: "9.5rem" },
  { label: "Action", width: "7rem" },
];

/** The account's tokens for programs: to make, see and revoke. */
export function Tokens({ isAdmin }: { readonly isAdmin: boolean }) {
  const { data, error, isPending } = useQuery(api.tokens.list.queryOptions());
  const read = () => readAnew(api.tokens.list.pathKey());
  return (
    <section>
      <h2 className="mb-2 text-lg font-semibold">Tokens for programs</h2>
      <p className="mb-3 max-w-2xl text-sm text-muted">
        A program sends a token as <code>Authorization: Bearer</code>{" "}
        and acts for you within its scope. It cannot change this account.
      </p>
      <TokenForm isAdmin={isAdmin} onMade={read} />
      <Table
        label="Tokens"
        columns={COLUMNS}
        minWidth="48rem"
        isLoading={isPending && error === null}
        empty="You have no tokens."
      >
        {(data?.tokens ?? []).map((token) => <Row key={token.id} token={token} onRevoked={read} />)}
      </Table>
      <p role="alert" className="min-h-5 text-sm text-danger">{error === null ? "" : describeError(error)}</p>
    </section>
  );
}

function Row({ token: { id, name, scope, created_at, expires_at, last_used_at }, onRevoked }: {
  readonly token: Token;
  readonly onRevoked: () => void;
}) {
  const revoke = useMutation(api.tokens.revoke.mutationOptions({ onSettled: onRevoked }));
  const isExpired = Date.parse(expires_at) <= Date.now();
  return (
    <tr className={ROW_CLASS}>
      <td className="truncate px-3 text-left" title={name}>{name}</td>
      <td className="px-3 text-left">{scope}</td>
      <td className="px-3 text-left whitespace-nowrap text-muted">{formatDate(created_at)}</td>
      <td className={`px-3 text-left whitespace-nowrap ${isExpired ? "text-danger" : "text-muted"}`}>
        {isExpired ? "expired" : formatDate(expires_at)}
      </td>
      <td className="px-3 text-left whitespace-nowrap text-muted">
        {last_used_at === null ? "never" : formatTime(last_used_at)}
      </td>
      <td className="px-3 whitespace-nowrap">
        <DeleteButton
          trigger="Revoke"
          title={`Revoke “${name}”?`}
          text="The next request of a program that uses it is refused. This cannot be undone."
          label="Revoke it"
          removal={revoke}
          onConfirm={() => revoke.mutate({ id })}
        />
      </td>
    </tr>
  );
}
