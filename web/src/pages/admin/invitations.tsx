import { useMutation, useQuery } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { api, describeError, readAnew } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete_button.tsx";
import { Field } from "../../parts/field.tsx";
import { formatDate } from "../../parts/format.ts";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";

const COLUMNS: readonly TableColumn[] = [
  { label: "For", isText: true },
  { label: "Since (UTC)", isText: true, width: "8rem" },
  { label: "Ends (UTC)", isText: true, width: "8rem" },
  { label: "Action", width: "7rem" },
];

/** The open invitations, to make, see and revoke; nothing where the service does not invite. */
export function Invitations() {
  const { data: policy } = useQuery(api.session.policy.queryOptions());
  return policy?.sign_up === "invite" ? <OpenInvitations /> : null;
}

function OpenInvitations() {
  const { data, error, isPending } = useQuery(api.invitations.list.queryOptions());
  const read = () => readAnew(api.invitations.list.pathKey());
  return (
    <section>
      <h2 className="mb-2 text-lg font-semibold">Invitations</h2>
      <InvitationForm onMade={read} />
      <Table
        label="Invitations"
        columns={COLUMNS}
        minWidth="36rem"
        isLoading={isPending && error === null}
        empty="No invitation is open."
      >
        {(data?.invitations ?? []).map((each) => <Row key={each.id} {...each} onRevoked={read} />)}
      </Table>
      <p role="alert" className="text-sm text-danger">{error === null ? "" : describeError(error)}</p>
    </section>
  );
}

/** Makes an invitation, and shows its link this once. */
function InvitationForm({ onMade }: { readonly onMade: () => void }) {
  const make = useMutation(api.invitations.create.mutationOptions({ onSuccess: onMade }));
  const { register, handleSubmit, reset } = useForm({ defaultValues: { email: "" } });
  const submit = handleSubmit(({ email }) =>
    make.mutate({ invitation: email.trim() === "" ? {} : { email: email.trim() } }, { onSuccess: () => reset() })
  );
  return (
    <>
      <form noValidate onSubmit={submit} className="mb-3 flex flex-wrap items-start gap-x-3">
        <Field
          label="E-mail to invite"
          hint="Empty: whoever has the link"
          type="email"
          autoComplete="off"
          {...register("email")}
        />
        <Button type="submit" kind="primary" className="h-9 sm:mt-6" disabled={make.isPending}>Invite</Button>
      </form>
      <p role="alert" className="text-sm break-words text-danger">
        {make.error === null ? "" : describeError(make.error)}
      </p>
      {make.data !== undefined && (
        <p role="status" className="mb-3 rounded-lg border border-accent bg-surface p-4 text-sm">
          {make.data.mailed
            ? `It is on its way to ${make.data.invitation.email}. `
            : "Send this link; it is not shown again. "}
          <code className="break-all select-all">{make.data.url}</code>
        </p>
      )}
    </>
  );
}

function Row({ id, email, created_at, expires_at, onRevoked }: {
  readonly id: string;
  readonly email: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly onRevoked: () => void;
}) {
  const revoke = useMutation(api.invitations.revoke.mutationOptions({ onSettled: onRevoked }));
  const subject = email ?? "whoever has the link";
  return (
    <tr className={ROW_CLASS}>
      <td className="truncate px-3 text-left" title={subject}>{subject}</td>
      <td className="px-3 text-left whitespace-nowrap text-muted">{formatDate(created_at)}</td>
      <td className="px-3 text-left whitespace-nowrap text-muted">{formatDate(expires_at)}</td>
      <td className="px-3 whitespace-nowrap">
        <DeleteButton
          trigger="Revoke"
          title="Revoke the invitation?"
          text="Nobody signs up with it any more."
          label="Revoke it"
          removal={revoke}
          onConfirm={() => revoke.mutate({ id })}
        />
      </td>
    </tr>
  );
}
