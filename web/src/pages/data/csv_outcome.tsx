import { Link } from "@tanstack/react-router";
import { formatCount } from "../../parts/format.ts";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";
import type { ImportAnswer, ImportRequest } from "./import_route.ts";
import { inFormWords } from "./import_fields.ts";

const COLUMNS: readonly TableColumn[] = [{ label: "Line", width: "6rem" }, { label: "Reason", isText: true }];

const DELIMITERS: Readonly<Record<string, string>> = { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars" };
const ORDERS: Readonly<Record<string, string>> = {
  ymd: "dates year first",
  dmy: "dates day first",
  mdy: "dates month first",
};
const UNITS: Readonly<Record<string, string>> = {
  s: "seconds since 1970",
  ms: "milliseconds since 1970",
  us: "microseconds since 1970",
  ns: "nanoseconds since 1970",
};

/** The recognised dialect in words. */
function describe({ dialect, convention }: ImportAnswer): string {
  const { name, packing, encoding, delimiter, columns, date_order, time_unit, decimal_mark, timezone } = dialect;
  return [
    name === "plain" ? "a plain file" : `a file of ${name}`,
    packing,
    encoding === "utf-8" ? null : encoding,
    DELIMITERS[delimiter],
    time_unit === null ? ORDERS[date_order ?? ""] : UNITS[time_unit],
    `decimal ${decimal_mark}`,
    columns["volume"] === null ? "no volume" : null,
    timezone === "UTC" ? null : `times of ${timezone}`,
    convention,
  ].filter((part) => part !== null && part !== undefined).join(", ");
}

/** The outcome of an import: what was recognised and stored, and each line that was not. */
export function CsvOutcome({ request, answer }: {
  readonly request: ImportRequest;
  readonly answer: ImportAnswer;
}) {
  const { symbol, exchange } = request;
  const { imported, unchanged, revised, rejected, rejected_count, timeframe } = answer;
  const facts = [
    ["imported", imported],
    ["unchanged", unchanged],
    ["revised", revised],
    ["rejected", rejected_count],
  ] as const;
  return (
    <div className="mt-4 border-t border-line pt-3">
      <div role="status">
        <p className="font-medium">
          {imported + unchanged + revised === 0
            ? "No candle was imported."
            : `Imported ${symbol} on ${exchange}, ${timeframe}.`}
        </p>
        <dl className="mt-1 flex flex-wrap gap-x-5 text-sm">
          {facts.map(([label, count]) => (
            <div key={label} className="flex gap-1.5">
              <dt className="text-muted">{label}</dt>
              <dd className={label === "rejected" && count > 0 ? "font-medium text-danger" : ""}>
                {formatCount(count)}
              </dd>
            </div>
          ))}
        </dl>
        <p className="mt-1 text-sm text-muted">Recognised: {describe(answer)}.</p>
        {answer.warnings.map((warning) => (
          <p key={warning} className="mt-1 text-sm font-medium break-words">Check this: {inFormWords(warning)}.</p>
        ))}
      </div>
      {imported + unchanged + revised > 0 && (
        <p className="mt-1 flex gap-x-4 text-sm">
          <Link to="/data/$exchange/$symbol" params={{ exchange, symbol }} className="text-accent underline">
            Show the chart
          </Link>
          <Link to="/runs/new" search={{ market: `${symbol}@${exchange}` }} className="text-accent underline">
            Run a strategy on it
          </Link>
        </p>
      )}
      {rejected.length > 0 && (
        <div className="mt-3">
          {rejected.length < rejected_count && (
            <p className="mb-1 text-sm text-muted">The first {rejected.length} lines that were rejected:</p>
          )}
          <Table label="Rejected lines" columns={COLUMNS} minWidth="0">
            {rejected.map(({ line, reason }) => (
              <tr key={line} className={ROW_CLASS}>
                <td className="px-3">{formatCount(line)}</td>
                <td className="px-3 py-1.5 text-left break-words">{reason}</td>
              </tr>
            ))}
          </Table>
        </div>
      )}
    </div>
  );
}
