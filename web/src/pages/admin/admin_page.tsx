import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, describeError, type IngestionRun } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { formatCount, formatTime } from "../../parts/format.ts";
import { IngestedInstruments } from "./ingested_instruments.tsx";
import { Invitations } from "./invitations.tsx";
import { IngestionEvents } from "./ingestion_events.tsx";
import { Users } from "./users.tsx";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";

const ACTIVE_MS = 2_000;
const IDLE_MS = 15_000;

const SHOWN = 10;
const COLUMNS: readonly TableColumn[] = [
  { label: "Status", isText: true, width: "8rem" },
  { label: "Started by", isText: true, width: "7rem" },
  { label: "Instruments", isText: true, width: "14rem" },
  { label: "Made (UTC)", isText: true, width: "9.5rem" },
  { label: "Finished (UTC)", isText: true, width: "9.5rem" },
  { label: "Candles", width: "7rem" },
  { label: "Message", isText: true },
];

const LOOKS = {
  queued: { tone: "text-muted", mark: "○" },
  running: { tone: "text-accent", mark: "◔" },
  completed: { tone: "text-gain", mark: "✓" },
  failed: { tone: "text-danger", mark: "✕" },
} as const;

/** Users and invitations; ingestion: its state, runs, instruments with their schedules, and events. Only for admins. */
export function AdminPage() {
  const { data: session } = useQuery(api.session.get.queryOptions());
  if (session === undefined) return <p role="status" className="py-24 text-center text-muted">Loading …</p>;
  if (session.user.role === "admin") return <Ingestion />;
  return (
    <div className="mx-auto my-16 max-w-lg rounded-lg border border-line bg-surface p-6">
      <h1 className="text-lg font-semibold">Only admins see this page</h1>
      <p className="mt-2 text-muted">
        The operator of this service makes one with <code className="font-mono text-sm">deno task admin EMAIL</code>.
      </p>
    </div>
  );
}

function Ingestion() {
  const queries = useQueryClient();
  const { data: status, error } = useQuery(api.ingestion.status.queryOptions(undefined, {
    refetchInterval: ({ state }) => isBusy(state.data) ? ACTIVE_MS : IDLE_MS,
  }));
  const start = useMutation(api.ingestion.runOnce.mutationOptions({
    onSuccess: () => queries.invalidateQueries({ queryKey: api.ingestion.pathKey() }),
  }));
  const refetchMs = isBusy(status) ? ACTIVE_MS : IDLE_MS;
  const fault = start.error ?? error;
  return (
    <div className="flex flex-col gap-6">
      <div>
        <div className="flex flex-wrap items-center gap-x-5 gap-y-2">
          <h1 className="text-xl font-semibold">Admin</h1>
          <p role="status" className="mr-auto min-h-5 text-sm text-muted">
            {status === undefined
              ? ""
              : `${formatCount(status.instruments)} with a provider · ${formatCount(status.queued)} runs queued · ${
                formatCount(status.running)
              } running`}
          </p>
          <Button kind="primary" disabled={start.isPending} onClick={() => start.mutate({})}>
            Fetch what is missing
          </Button>
        </div>
        <p role="alert" className="text-sm break-words text-danger">{fault ? describeError(fault) : ""}</p>
      </div>
      <Users />
      <Invitations />
      <IngestionRuns refetchMs={refetchMs} />
      <IngestedInstruments onFetch={({ symbol, exchange }) => start.mutate({ instruments: [{ symbol, exchange }] })} />
      <IngestionEvents refetchMs={refetchMs} />
    </div>
  );
}

function isBusy(status: { readonly queued: number; readonly running: number } | undefined): boolean {
  return status !== undefined && status.queued + status.running > 0;
}

/** The newest ingestion runs, kept up to date. */
function IngestionRuns({ refetchMs }: { readonly refetchMs: number }) {
  const { data, isPending } = useQuery(
    api.ingestion.runs.queryOptions({ limit: SHOWN }, { refetchInterval: refetchMs }),
  );
  return (
    <section>
      <h2 className="mb-2 text-lg font-semibold">Ingestion runs</h2>
      <Table label="Ingestion runs" columns={COLUMNS} minWidth="66rem" isLoading={isPending} empty="Nothing ran yet.">
        {(data?.runs ?? []).map((run) => <Row key={run.id} run={run} />)}
      </Table>
    </section>
  );
}

function Row({ run: { status, trigger, instruments, created_at, finished_at, candles, message } }: {
  readonly run: IngestionRun;
}) {
  const { tone, mark } = LOOKS[status];
  const [first] = instruments ?? [];
  const names = first === undefined
    ? "all with a provider"
    : `${first.symbol} ${first.exchange}${instruments!.length > 1 ? ` and ${instruments!.length - 1} more` : ""}`;
  return (
    <tr className={ROW_CLASS}>
      <td className={`px-3 text-left font-medium ${tone}`}>
        <span aria-hidden="true">{mark}</span> {status}
      </td>
      <td className="px-3 text-left">{trigger}</td>
      <td className="truncate px-3 text-left" title={names}>{names}</td>
      <td className="px-3 text-left text-muted">{formatTime(created_at)}</td>
      <td className="px-3 text-left text-muted">{formatTime(finished_at)}</td>
      <td className="px-3">{formatCount(candles)}</td>
      <td className="truncate px-3 text-left text-muted" title={message ?? ""}>{message ?? "–"}</td>
    </tr>
  );
}
