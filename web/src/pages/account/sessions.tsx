import { useMutation, useQuery } from "@tanstack/react-query";
import { type AccountSession, endOtherSessions, endSession, listSessions } from "../../account_routes.ts";
import { client, describeError } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { formatTime } from "../../parts/format.ts";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";

export const SESSIONS_KEY = ["account", "sessions"] as const;

const COLUMNS: readonly TableColumn[] = [
  { label: "Browser or program", isText: true },
  { label: "Address", isText: true, width: "10rem" },
  { label: "Since (UTC)", isText: true, width: "9.5rem" },
  { label: "Ends (UTC)", isText: true, width: "9.5rem" },
  { label: "Action", width: "6.5rem" },
];
// As a browser names itself; the first that fits counts, since each also names those before it in time.
const BROWSERS = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/Chrome\//, "Chrome"],
  [/Safari\//, "Safari"],
] as const;
const SYSTEMS = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
] as const;

/** The account's open sessions, each of which can be ended. */
export function Sessions() {
  const { data, error, isPending, refetch } = useQuery({ queryKey: SESSIONS_KEY, queryFn: readSessions });
  const end = useMutation({ mutationFn: endSession, onSettled: () => refetch() });
  const endOthers = useMutation({ mutationFn: endOtherSessions, onSettled: () => refetch() });
  const { currentId, open = [] } = data ?? {};
  const sessions = open.toSorted((a, b) =>
    Number(b.id === currentId) - Number(a.id === currentId) || Date.parse(b.createdAt) - Date.parse(a.createdAt)
  );
  const fault = error ?? end.error ?? endOthers.error;
  return (
    <section>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-lg font-semibold">Sessions</h2>
        <Button disabled={sessions.length < 2 || endOthers.isPending} onClick={() => endOthers.mutate()}>
          End all others
        </Button>
      </div>
      <Table label="Sessions" columns={COLUMNS} minWidth="46rem" isLoading={isPending}>
        {sessions.map((session) => (
          <tr key={session.id} className={ROW_CLASS}>
            <td className="truncate px-3 text-left" title={session.userAgent ?? ""}>{describeAgent(session)}</td>
            <td className="truncate px-3 text-left text-muted">{session.ipAddress || "–"}</td>
            <td className="px-3 text-left whitespace-nowrap text-muted">{formatTime(session.createdAt)}</td>
            <td className="px-3 text-left whitespace-nowrap text-muted">{formatTime(session.expiresAt)}</td>
            <td className="px-3 whitespace-nowrap">
              {session.id === currentId
                ? <span className="text-gain">✓ this one</span>
                : (
                  <Button kind="quiet" className="!h-7" disabled={end.isPending} onClick={() => end.mutate(session)}>
                    End
                  </Button>
                )}
            </td>
          </tr>
        ))}
      </Table>
      <p role="alert" className="min-h-5 text-sm text-danger">{fault ? describeError(fault) : ""}</p>
    </section>
  );
}

/** The open sessions with the browser's own, read together: a changed password gives the browser another one. */
async function readSessions() {
  const [open, { session }] = await Promise.all([listSessions(), client.session.get.query()]);
  return { open, currentId: session.id };
}

function describeAgent({ userAgent }: AccountSession): string {
  const agent = userAgent ?? "";
  const browser = BROWSERS.find(([pattern]) => pattern.test(agent))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(agent))?.[1];
  if (browser === undefined) return agent.split(" ", 1)[0] || "unknown";
  return system === undefined ? browser : `${browser} on ${system}`;
}
