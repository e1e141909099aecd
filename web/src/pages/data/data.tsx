import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { linkOptions } from "@tanstack/react-router";
import { useState } from "react";
import { api, client, type Instrument, pagesOf } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { Failure } from "../../parts/failure.tsx";
import { formatCount, formatDate } from "../../parts/format.ts";
import { LinkRow, RowLink } from "../../parts/link_row.tsx";
import { MoreButton } from "../../parts/more_button.tsx";
import { PROVIDER_NAMES } from "../../parts/provider_name.ts";
import { SearchBox } from "../../parts/search_box.tsx";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";
import { CsvImport } from "./csv_import.tsx";
import { RealMarkets } from "./real_markets.tsx";

const PAGE = 100;
const CLASSES = ["all", "crypto", "stock", "forex"] as const;
const COLUMNS: readonly TableColumn[] = [
  { label: "Symbol", isText: true },
  { label: "Exchange", width: "11rem", isText: true },
  { label: "Class", width: "5.5rem", isText: true },
  { label: "Source", width: "8rem", isText: true },
  { label: "Held as", width: "9rem", isText: true },
  { label: "First (UTC)", width: "8rem" },
  { label: "Last (UTC)", width: "8rem" },
  { label: "Candles", width: "8rem" },
];

/** The instruments whose candles the archive holds, and the import of others. */
export function DataPage() {
  const [text, setText] = useState("");
  const [assetClass, setAssetClass] = useState<(typeof CLASSES)[number]>("all");
  const search = text.trim();
  const { data: session } = useQuery(api.session.get.queryOptions());
  const list = useInstruments(search, assetClass);
  const { data, error, refetch, isPending, hasNextPage } = list;
  const rows = data?.pages.flatMap(({ instruments }) => instruments) ?? [];
  const isFiltered = search !== "" || assetClass !== "all";
  const isSampleAlone = !isFiltered && rows.length > 0 && rows.every(({ provider }) => provider === "sample");
  // The offer stays while a market that it fetches is already held in part.
  const [isOffered, setOffered] = useState(false);
  if (isSampleAlone && !isOffered) setOffered(true);
  if (error && data === undefined) return <Failure error={error} reset={() => void refetch()} />;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h1 className="mr-auto text-xl font-semibold">Market data</h1>
        <p role="status" className="text-sm text-muted">
          {isPending
            ? ""
            : `${formatCount(rows.length)}${hasNextPage ? "+" : ""} ${
              rows.length === 1 ? "instrument" : "instruments"
            }`}
        </p>
        <Choice label="Class" values={CLASSES} value={assetClass} onChange={setAssetClass} />
        <SearchBox
          label="Search symbols"
          placeholder="Search symbols"
          value={text}
          maxLength={100}
          onChange={setText}
          className="max-sm:w-full"
        />
      </div>
      {session?.user.role === "admin" && <CsvImport />}
      {isOffered && !isFiltered && <RealMarkets />}
      <Table
        label="Instruments"
        columns={COLUMNS}
        minWidth="64rem"
        isLoading={isPending}
        empty={isFiltered ? "No instrument fits this search." : "The archive holds no candles yet."}
      >
        {rows.map((each) => <Row key={`${each.symbol} ${each.exchange}`} instrument={each} />)}
      </Table>
      <MoreButton pages={list} isAuto />
      {session?.user.role === "user" && (
        <p className="text-sm text-muted">
          Admins import files of candles here. The operator of this service makes one with{" "}
          <code className="font-mono">deno task admin EMAIL</code>.
        </p>
      )}
    </div>
  );
}

function useInstruments(search: string, assetClass: (typeof CLASSES)[number]) {
  const input = {
    limit: PAGE,
    ...(search === "" ? {} : { search }),
    ...(assetClass === "all" ? {} : { assetClass }),
  };
  return useInfiniteQuery({
    ...pagesOf(
      [...api.marketData.instruments.pathKey(), input],
      (cursor) => client.marketData.instruments.query({ ...input, ...cursor }),
    ),
    placeholderData: keepPreviousData,
  });
}

function Row({ instrument }: { readonly instrument: Instrument }) {
  const { symbol, exchange, assetClass, provider, timeframes, first, last, candles } = instrument;
  const link = linkOptions({ to: "/data/$exchange/$symbol", params: { exchange, symbol } });
  return (
    <LinkRow link={link} className={ROW_CLASS}>
      <td className="px-3 text-left">
        <RowLink link={link} text={symbol} />
      </td>
      <td className="truncate px-3 text-left" title={exchange}>{exchange}</td>
      <td className="px-3 text-left">{assetClass}</td>
      <td className="truncate px-3 text-left text-muted">{PROVIDER_NAMES[provider]}</td>
      <td className="truncate px-3 text-left" title={timeframes.join(", ")}>{timeframes.join(", ") || "–"}</td>
      <td className="px-3">{formatDate(first)}</td>
      <td className="px-3">{formatDate(last)}</td>
      <td className="px-3">{formatCount(candles)}</td>
    </LinkRow>
  );
}
