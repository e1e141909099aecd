import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, client, type IngestedInstrument, pagesOf } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { RowLink } from "../../parts/link_row.tsx";
import { MoreButton } from "../../parts/more_button.tsx";
import { PROVIDER_NAMES } from "../../parts/provider_name.ts";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";
import { InstrumentForm } from "./instrument_form.tsx";

const PAGE = 25;
const COLUMNS: readonly TableColumn[] = [
  { label: "Symbol", isText: true },
  { label: "Exchange", isText: true, width: "11rem" },
  { label: "Class", isText: true, width: "5.5rem" },
  { label: "Provider", isText: true, width: "8rem" },
  { label: "Timeframe", isText: true, width: "6.5rem" },
  { label: "Fetched from", isText: true, width: "8rem" },
  { label: "Schedule (UTC)", isText: true, width: "11rem" },
  { label: "Actions", width: "9.5rem" },
];

/** The instruments with their providers and schedules, which are added, changed and fetched here. */
export function IngestedInstruments({ onFetch }: {
  readonly onFetch: (instrument: { symbol: string; exchange: string }) => void;
}) {
  const [edited, setEdited] = useState<IngestedInstrument | "new" | null>(null);
  const list = useInfiniteQuery(
    pagesOf(api.ingestion.instruments.pathKey(), (cursor) => {
      return client.ingestion.instruments.query({ limit: PAGE, ...cursor });
    }),
  );
  const rows = list.data?.pages.flatMap(({ instruments }) => instruments) ?? [];
  return (
    <section className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-lg font-semibold">Instruments and schedules</h2>
        {edited === null && <Button onClick={() => setEdited("new")}>Add an instrument</Button>}
      </div>
      {edited !== null && (
        <InstrumentForm
          key={edited === "new" ? "new" : edited.id}
          instrument={edited === "new" ? null : edited}
          // Another row may have been opened while this form was being saved.
          onDone={() => setEdited((open) => open === edited ? null : open)}
        />
      )}
      <Table
        label="Instruments and schedules"
        columns={COLUMNS}
        minWidth="69rem"
        isLoading={list.isPending}
        empty="No instrument is configured yet."
      >
        {rows.map((each) => (
          <Row
            key={each.id}
            instrument={each}
            onEdit={() => setEdited(each)}
            onFetch={() => onFetch(each)}
          />
        ))}
      </Table>
      <MoreButton pages={list} />
    </section>
  );
}

function Row({ instrument, onEdit, onFetch }: {
  readonly instrument: IngestedInstrument;
  readonly onEdit: () => void;
  readonly onFetch: () => void;
}) {
  const { symbol, exchange, assetClass, provider, timeframe, backfill_from, schedule } = instrument;
  return (
    <tr className={ROW_CLASS}>
      <td className="px-3 text-left">
        <RowLink link={{ to: "/data/$exchange/$symbol", params: { exchange, symbol } }} text={symbol} />
      </td>
      <td className="truncate px-3 text-left" title={exchange}>{exchange}</td>
      <td className="px-3 text-left">{assetClass}</td>
      <td className="px-3 text-left text-muted">{PROVIDER_NAMES[provider]}</td>
      <td className="px-3 text-left">{timeframe ?? "–"}</td>
      <td className="px-3 text-left">{backfill_from ?? "–"}</td>
      <td className="truncate px-3 text-left font-mono text-xs" title={schedule ?? ""}>{schedule ?? "–"}</td>
      <td className="px-1.5 whitespace-nowrap">
        {backfill_from !== null && (
          <Button kind="quiet" className="h-7! px-2!" aria-label={`Fetch ${symbol}`} onClick={onFetch}>Fetch</Button>
        )}
        {provider !== "sample" && (
          <Button kind="quiet" className="h-7! px-2!" aria-label={`Edit ${symbol}`} onClick={onEdit}>Edit</Button>
        )}
      </td>
    </tr>
  );
}
