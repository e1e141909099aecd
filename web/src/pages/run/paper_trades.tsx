import type { TradeTable } from "../../api.ts";
import { formatCount } from "../../parts/format.ts";
import { tradeColumns } from "./trade_cells.ts";

/** More would fill sheets that nobody reads. */
const ROWS_MAX = 500;

/** Trades as they are printed: as many columns as a sheet is wide. @param rows Indexes of the trades, in their order. */
export function PaperTrades({ trades, rows }: { readonly trades: TradeTable; readonly rows: readonly number[] }) {
  const columns = tradeColumns(trades).filter(({ isWide }) => !isWide);
  return (
    <>
      <table className="w-full text-right text-2xs">
        <thead className="text-muted">
          <tr>
            {columns.map(({ label, isText }) => (
              <th key={label} scope="col" className={`px-1 font-medium ${isText ? "text-left" : ""}`}>{label}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, ROWS_MAX).map((i) => (
            <tr key={i} className="break-inside-avoid border-t border-line/60">
              {columns.map(({ label, show, tone, isText }) => (
                <td key={label} className={`px-1 ${isText ? "text-left" : ""} ${tone?.(trades, i) ?? ""}`}>
                  {show(trades, i)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > ROWS_MAX && (
        <p className="mt-1 text-muted">
          {formatCount(ROWS_MAX)} of {formatCount(rows.length)} trades are printed.
        </p>
      )}
    </>
  );
}
