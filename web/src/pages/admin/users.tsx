import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { banUser, type ListedUser, listUsers, setRole, unbanUser } from "../../account_routes.ts";
import { api, readAnew } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { formatCount, formatDate } from "../../parts/format.ts";
import { SearchBox } from "../../parts/search_box.tsx";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";
import { UserPanel } from "./user_panel.tsx";

const PAGE = 25;
const KEY = ["users"] as const;
const COLUMNS: readonly TableColumn[] = [
  { label: "E-mail", isText: true },
  { label: "Role", isText: true, width: "6rem" },
  { label: "Since (UTC)", isText: true, width: "8rem" },
  { label: "State", isText: true, width: "6rem" },
  { label: "Actions", width: "22rem" },
];

/** The service's users: their roles and bans, to find and to change, and more of one that is opened. */
export function Users() {
  const [search, setSearch] = useState("");
  const { data: session } = useQuery(api.session.get.queryOptions());
  const { data, error, isPending } = useQuery({
    queryKey: [...KEY, search],
    queryFn: () => listUsers(search, PAGE),
    placeholderData: (before) => before,
  });
  const users = data?.users ?? [];
  const [openedId, setOpenedId] = useState<string | null>(null);
  const opened = users.find(({ id }) => id === openedId);
  return (
    <section>
      <div className="mb-2 flex flex-wrap items-center gap-3">
        <h2 className="mr-auto text-lg font-semibold">Users</h2>
        <SearchBox label="Find users by e-mail" placeholder="Part of an e-mail" value={search} onChange={setSearch} />
      </div>
      <Table
        label="Users"
        columns={COLUMNS}
        minWidth="52rem"
        isLoading={isPending && error === null}
        empty="No user has such an address."
      >
        {users.map((user) => (
          <Row
            key={user.id}
            user={user}
            isOwn={user.id === session?.user.id}
            onChanged={() => readAnew(KEY)}
            onOpen={() => setOpenedId(user.id)}
          />
        ))}
      </Table>
      <p className="mt-1 text-sm text-muted">
        {data !== undefined && data.total > users.length
          ? `The newest ${users.length} of ${formatCount(data.total)}: search for the others.`
          : ""}
      </p>
      <p role="alert" className="text-sm text-danger">{error?.message ?? ""}</p>
      {opened !== undefined && (
        <UserPanel
          key={opened.id}
          user={opened}
          isOwn={opened.id === session?.user.id}
          onClose={() => setOpenedId(null)}
          onRemoved={() => {
            setOpenedId(null);
            return readAnew(KEY);
          }}
        />
      )}
    </section>
  );
}

function Row({ user: { id, email, role, banned, createdAt }, isOwn, onChanged, onOpen }: {
  readonly user: ListedUser;
  readonly isOwn: boolean;
  readonly onChanged: () => void;
  readonly onOpen: () => void;
}) {
  const isAdmin = (role ?? "").split(",").includes("admin");
  const change = useMutation({ mutationFn: (act: () => Promise<void>) => act(), onSettled: onChanged });
  const button = (label: string, act: () => Promise<void>) => (
    <Button
      aria-label={`${label}: ${email}`}
      disabled={isOwn || change.isPending}
      onClick={() => change.mutate(act)}
    >
      {label}
    </Button>
  );
  return (
    <tr className={ROW_CLASS}>
      <td className="truncate px-3 text-left" title={email}>{email}</td>
      <td className="px-3 text-left">{isAdmin ? "admin" : "user"}</td>
      <td className="px-3 text-left whitespace-nowrap text-muted">{formatDate(createdAt)}</td>
      <td className={`px-3 text-left ${banned ? "text-danger" : "text-muted"}`}>{banned ? "banned" : "active"}</td>
      <td className="px-3 text-right whitespace-nowrap">
        <span role="alert" className="text-sm text-danger">{change.error?.message ?? ""}</span>{" "}
        {button(isAdmin ? "Make a user" : "Make an admin", () => setRole(id, isAdmin ? "user" : "admin"))}{" "}
        {banned ? button("Let in", () => unbanUser(id)) : button("Ban", () => banUser(id))}{" "}
        <Button aria-label={`Manage: ${email}`} onClick={onOpen}>Manage</Button>
      </td>
    </tr>
  );
}
