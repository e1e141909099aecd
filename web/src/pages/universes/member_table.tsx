import type { Member } from "../../api.ts";
import { formatDate } from "../../parts/format.ts";
import { chooseDates, DAY_MS, linear } from "../../parts/scale.ts";
import { ROW_CLASS, Table, type TableColumn, WIDE_ONLY } from "../../parts/table.tsx";

const DATES = 5;
// Rows without a date reach a little further than rows with one.
const MARGIN = 0.08;
const COLUMNS: readonly TableColumn[] = [
  { label: "Instrument", isText: true, width: "14rem", onPhone: "max-sm:w-32!" },
  { label: "From", isText: true, width: "7rem" },
  { label: "To, exclusive", isText: true, width: "7rem" },
  { label: "Time as a member", isText: true, onPhone: WIDE_ONLY },
];

/** Members with their dates, and a line that shows when each was one. */
export function MemberTable({ members, isLoading }: {
  readonly members: readonly Member[];
  readonly isLoading: boolean;
}) {
  const dates = members.flatMap(({ from, to }) => [from, to]).filter((date) => date !== null).map(Date.parse);
  const [first, last] = [Math.min(...dates), Math.max(...dates)];
  const x = linear([first, Math.max(last, first + DAY_MS)], [100 * MARGIN, 100 * (1 - MARGIN)]);
  return (
    <Table label="Members" columns={COLUMNS} minWidth="40rem" isLoading={isLoading}>
      {dates.length > 0 && (
        <tr aria-hidden="true" className={`border-b border-line ${WIDE_ONLY}`}>
          <td colSpan={3} />
          <td className="px-3">
            <svg className="h-4 w-full overflow-visible fill-muted text-2xs">
              {chooseDates(first, last, DATES).map((date) => (
                <text key={date} x={`${x(date)}%`} y="75%" textAnchor="middle">{formatDate(date)}</text>
              ))}
            </svg>
          </td>
        </tr>
      )}
      {members.map(({ symbol, exchange, from, to }) => {
        const [begin, end] = [from === null ? 0 : x(Date.parse(from)), to === null ? 100 : x(Date.parse(to))];
        return (
          <tr key={`${symbol} ${exchange} ${from}`} className={ROW_CLASS}>
            <th scope="row" className="truncate px-3 text-left font-medium" title={`${symbol} on ${exchange}`}>
              {symbol} <span className="font-normal text-muted">on {exchange}</span>
              <MemberBar begin={begin} end={end} look="mt-0.5 h-1 sm:hidden" />
            </th>
            <td className="px-3 text-left whitespace-nowrap">{from ?? "the beginning"}</td>
            <td className="px-3 text-left whitespace-nowrap">{to ?? "still a member"}</td>
            <td className={`px-3 ${WIDE_ONLY}`}>
              <MemberBar begin={begin} end={end} look="h-2.5" />
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

/** The part of the time, in percent, in which an instrument is a member; below its name where the screen is narrow. */
function MemberBar({ begin, end, look }: { readonly begin: number; readonly end: number; readonly look: string }) {
  return (
    <svg aria-hidden="true" className={`block w-full rounded bg-sunken ${look}`}>
      <rect x={`${begin}%`} width={`${Math.max(0.5, end - begin)}%`} height="100%" className="fill-accent/60" />
    </svg>
  );
}
