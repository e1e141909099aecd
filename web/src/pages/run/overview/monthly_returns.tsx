import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api.ts";
import { formatShortPercent } from "../../../parts/format.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
// The return whose cell has the full tint.
const FULL_TINT = 0.15;
const TINT_PERCENT_MAX = 42;

/** A row for each year, a tinted cell for each month. */
export function MonthlyReturns({ id }: { readonly id: string }) {
  const monthly = useQuery(api.backtests.returns.queryOptions({ id, period: "monthly" }, { staleTime: Infinity }));
  const yearly = useQuery(api.backtests.returns.queryOptions({ id, period: "yearly" }, { staleTime: Infinity }));
  const years = Map.groupBy(monthly.data?.returns ?? [], ({ timestamp }) => timestamp.slice(0, 4));
  const totals = new Map(yearly.data?.returns.map((each) => [each.timestamp.slice(0, 4), each.return]));
  return (
    <section>
      <h2 className="mb-1 text-sm font-semibold">Monthly returns</h2>
      <div
        className="min-h-16 overflow-x-auto print:overflow-visible"
        tabIndex={0}
        role="region"
        aria-label="Monthly returns"
      >
        <table className="w-full min-w-[52rem] print:min-w-0 table-fixed border-separate border-spacing-px text-right text-xs print:text-[9px]">
          <thead className="text-muted">
            <tr>
              <th scope="col" className="w-12 text-left font-medium">Year</th>
              {MONTHS.map((month) => <th key={month} scope="col" className="px-1.5 py-1 font-medium">{month}</th>)}
              <th scope="col" className="px-1.5 font-medium">Total</th>
            </tr>
          </thead>
          <tbody>
            {[...years].map(([year, months]) => (
              <tr key={year}>
                <th scope="row" className="text-left font-medium">{year}</th>
                {MONTHS.map((month, i) => (
                  <Cell
                    key={month}
                    value={months.find(({ timestamp }) => Number(timestamp.slice(5, 7)) === i + 1)?.return}
                  />
                ))}
                <Cell value={totals.get(year)} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Cell({ value }: { readonly value: number | undefined }) {
  if (value === undefined) return <td className="rounded-sm bg-sunken/50 px-1.5 py-1.5" />;
  const share = Math.min(1, Math.abs(value) / FULL_TINT) * TINT_PERCENT_MAX;
  const color = value < 0 ? "var(--loss)" : "var(--gain)";
  return (
    <td
      className="rounded-sm px-1.5 py-1.5"
      style={{ backgroundColor: `color-mix(in oklab, ${color} ${share.toFixed(0)}%, var(--surface))` }}
    >
      {formatShortPercent(value)}
    </td>
  );
}
