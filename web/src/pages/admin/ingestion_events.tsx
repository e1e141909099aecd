import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, type IngestionEvent } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { formatCount, formatTime, toWords } from "../../parts/format.ts";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";

const SHOWN = 50;
const TYPES = [
  "all",
  "run_started",
  "range_ingested",
  "rate_limited",
  "gap_found",
  "revised",
  "rejected",
  "failed",
  "run_finished",
] as const satisfies readonly (IngestionEvent["type"] | "all")[];
const COLUMNS: readonly TableColumn[] = [
  { label: "Time (UTC)", isText: true, width: "9.5rem" },
  { label: "Event", isText: true, width: "8.5rem" },
  { label: "Instrument", isText: true, width: "14rem" },
  { label: "Timeframe", isText: true, width: "6.5rem" },
  { label: "Range (UTC)", isText: true, width: "18rem" },
  { label: "Candles", width: "6.5rem" },
  { label: "Message", isText: true },
];

/** The events of ingestion runs: candles stored, refused and corrected, newest first. */
export function IngestionEvents({ refetchMs }: { readonly refetchMs: number }) {
  const [type, setType] = useState<(typeof TYPES)[number]>("all");
  const { data, isPending } = useQuery(api.ingestion.events.queryOptions(
    { limit: SHOWN, ...(type === "all" ? {} : { type }) },
    { refetchInterval: refetchMs, placeholderData: keepPreviousData },
  ));
  return (
    <section>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-lg font-semibold">Events</h2>
        <Choice label="Type" values={TYPES} value={type} onChange={setType} />
      </div>
      <Table
        label="Events"
        columns={COLUMNS}
        minWidth="76rem"
        isLoading={isPending}
        empty={type === "all" ? "No event yet." : "No event of this type."}
      >
        {(data?.events ?? []).map((event) => <Row key={event.id} event={event} />)}
      </Table>
    </section>
  );
}

function Row({ event: { type, symbol, exchange, timeframe, start, end, candles, message, created_at } }: {
  readonly event: IngestionEvent;
}) {
  const name = [symbol, exchange].filter((each) => each !== null).join(" ") || "–";
  const isFault = type === "failed" || type === "rejected";
  return (
    <tr className={ROW_CLASS}>
      <td className="px-3 text-left text-muted">{formatTime(created_at)}</td>
      <td className={`px-3 text-left ${isFault ? "text-danger" : type === "gap_found" ? "text-warn" : ""}`}>
        {toWords(type)}
      </td>
      <td className="truncate px-3 text-left" title={name}>{name}</td>
      <td className="px-3 text-left">{timeframe ?? "–"}</td>
      <td className="px-3 text-left whitespace-nowrap text-muted">
        {start === null ? "–" : `${formatTime(start)} – ${formatTime(end)}`}
      </td>
      <td className="px-3">{formatCount(candles)}</td>
      <td className="truncate px-3 text-left text-muted" title={message ?? ""}>{message ?? "–"}</td>
    </tr>
  );
}
