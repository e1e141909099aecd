import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type DragEvent, useRef, useState } from "react";
import { api } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { formatCount } from "../../parts/format.ts";
import { CsvForm } from "./csv_form.tsx";
import { CsvOutcome } from "./csv_outcome.tsx";
import { type CsvPreview, previewCsv } from "./csv_preview.ts";
import { importCsv, type ImportRequest } from "./import_route.ts";

/** Takes candles from a file. */
export function CsvImport() {
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<{ readonly file: File; readonly preview: CsvPreview } | null>(null);
  const send = useMutation({
    mutationFn: (request: ImportRequest) => importCsv(request),
    onSuccess: () => queries.invalidateQueries({ queryKey: api.marketData.pathKey() }),
  });
  const newest = useRef<File>(null);
  const choose = async (file: File) => {
    newest.current = file;
    send.reset();
    // The form of an earlier file would import that one.
    setChosen(null);
    const preview = await previewCsv(file);
    if (newest.current === file) setChosen({ file, preview });
  };
  return (
    <section aria-label="Import from CSV" className="rounded-lg border border-line bg-surface p-4">
      <h2 className="text-lg font-semibold">Import from CSV</h2>
      <p className="mt-1 mb-3 text-sm text-muted">
        Files of Yahoo, yfinance, Stooq, TradingView, Binance, MetaTrader, Dukascopy, CryptoDataDownload, Polygon,
        Investing.com, Nasdaq.com and spreadsheets as they are, also as .gz or .zip. Others need a header that names
        time, open, high, low and close.
      </p>
      <DropZone onFile={(file) => void choose(file)} />
      {chosen !== null && (
        <div key={`${chosen.file.name} ${chosen.file.lastModified} ${chosen.file.size}`} className="mt-4">
          <Preview file={chosen.file} lines={chosen.preview.lines} />
          <CsvForm {...chosen} send={send} />
          {send.data !== undefined && send.variables !== undefined && (
            <CsvOutcome request={send.variables} answer={send.data} />
          )}
        </div>
      )}
    </section>
  );
}

function DropZone({ onFile }: { readonly onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file !== undefined) onFile(file);
  };
  return (
    <div
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
      className={`flex flex-wrap items-center justify-center gap-3 rounded-md border border-dashed px-4 py-3 text-muted ${
        isOver ? "border-accent bg-sunken" : "border-strong-line"
      }`}
    >
      <span className="max-sm:hidden">Drop a file here, or</span>
      <Button onClick={() => input.current?.click()}>Choose a file</Button>
      <input
        ref={input}
        type="file"
        accept=".csv,.txt,.tsv,.gz,.zip,text/csv,text/plain,application/gzip,application/zip"
        aria-label="CSV file"
        hidden
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) onFile(file);
          // The same file can be chosen again after a correction.
          target.value = "";
        }}
      />
    </div>
  );
}

function Preview({ file, lines }: { readonly file: File; readonly lines: readonly string[] | null }) {
  return (
    <>
      <p className="flex flex-wrap gap-x-2 text-sm">
        <span className="min-w-0 font-medium break-all">{file.name}</span>
        <span className="text-muted">{formatCount(Math.ceil(file.size / 1024))} KiB</span>
      </p>
      <pre
        tabIndex={0}
        aria-label="First lines of the file"
        className="mt-1 mb-3 overflow-x-auto rounded-md bg-sunken p-2.5 font-mono text-xs"
      >
        {lines === null ? "A packed file." : lines.length === 0 ? "The file is empty." : lines.join("\n")}
      </pre>
    </>
  );
}
