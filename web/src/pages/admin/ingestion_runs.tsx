import { useQuery } from "@tanstack/react-query";
import { api, type IngestionRun } from "../../api.ts";
import { formatCount, formatTime } from "../../parts/format.ts";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";

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

/** The newest ingestion runs, kept up to date. */
export function IngestionRuns({ refetchMs }: { readonly refetchMs: number }) {
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
