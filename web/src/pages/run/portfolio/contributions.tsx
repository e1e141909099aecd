import { useMemo, useState } from "react";
import type { Portfolio } from "../../../api.ts";
import { Button } from "../../../parts/button.tsx";
import { formatCount, formatMoney, formatPercent, toneClass } from "../../../parts/format.ts";
import { Sparkline } from "../../../parts/sparkline.tsx";
import { ROW_CLASS, Table, type TableColumn, WIDE_ONLY } from "../../../parts/table.tsx";
import { profitLines } from "./market_lines.ts";

const ROWS_AT_FIRST = 30;
const BAR = { width: 200, height: 12 } as const;
type Contribution = Portfolio["contributions"][number];
type Figure = Exclude<keyof Contribution, "instrument" | "currency">;

const FIGURES: readonly {
  readonly key: Figure;
  readonly label: string;
  readonly meaning: string;
  readonly wide?: true;
}[] = [
  {
    key: "pnl",
    label: "P&L",
    meaning: "Money that the market gave, net of fees and financing; open trades count at the last close.",
  },
  { key: "share", label: "Share", meaning: "The market's part of the sum of all P&L.", wide: true },
  { key: "fees", label: "Fees", meaning: "Commissions that its fills cost.", wide: true },
  { key: "trades", label: "Trades", meaning: "Its trades." },
  { key: "held", label: "Held", meaning: "The share of all closes at which it was held.", wide: true },
];

/** Each market's part of the result: its course, a bar and its figures. A market's name shows its trades and its candles. */
export function Contributions({ portfolio, showTrades }: {
  readonly portfolio: Portfolio;
  readonly showTrades?: ((instrument: string) => void) | undefined;
}) {
  const { contributions } = portfolio;
  const lines = useMemo(() => profitLines(portfolio), [portfolio]);
  const [sort, setSort] = useState<{ readonly by: Figure; readonly isDown: boolean }>({ by: "pnl", isDown: true });
  const [showsAll, setShowsAll] = useState(false);
  const largest = contributions.reduce((most, { pnl }) => Math.max(most, Math.abs(pnl)), 0);
  const sign = sort.isDown ? -1 : 1;
  const rows = contributions.map((each, market) => ({ ...each, line: lines?.[market] })).toSorted((a, b) =>
    sign * ((a[sort.by] ?? 0) - (b[sort.by] ?? 0))
  );
  const columns: TableColumn[] = [
    { label: "Market", isText: true, width: "12rem", onPhone: "max-sm:w-28!" },
    ...(lines === null ? [] : [{ label: "Over time", isText: true, width: "9rem", onPhone: "max-sm:w-14!" } as const]),
    { label: "Contribution", isText: true, onPhone: WIDE_ONLY },
    ...FIGURES.map(({ key, label, meaning, wide }) => ({
      label,
      meaning,
      width: key === "trades" ? "5rem" : "7rem",
      ...(key === "trades" ? { onPhone: "max-sm:w-16!" } : {}),
      ...(key === "pnl" ? { onPhone: "max-sm:w-24!" } : {}),
      ...(wide ? { onPhone: WIDE_ONLY } : {}),
      sort: {
        isDown: sort.by === key ? sort.isDown : undefined,
        onSort: () => setSort({ by: key, isDown: sort.by === key ? !sort.isDown : true }),
      },
    })),
  ];
  return (
    <section className="min-w-0">
      <h2 className="mb-1 text-sm font-semibold">Markets</h2>
      <Table label="Contributions of the markets" columns={columns} minWidth="46rem">
        {(showsAll ? rows : rows.slice(0, ROWS_AT_FIRST)).map((row) => (
          <tr key={row.instrument} className={ROW_CLASS}>
            <th scope="row" className="truncate px-3 text-left font-medium" title={row.instrument}>
              {showTrades === undefined || row.trades === 0
                ? row.instrument
                : (
                  <button type="button" className="text-accent underline" onClick={() => showTrades(row.instrument)}>
                    {row.instrument}
                  </button>
                )}
              {row.currency !== undefined && <span className="text-muted">, {row.currency}</span>}
            </th>
            {row.line !== undefined && (
              <td className="px-3">
                {row.trades > 0 && <Sparkline points={[...row.line].map((profit) => 1 + profit)} />}
              </td>
            )}
            <td className={`px-3 ${WIDE_ONLY}`}>
              <Bar value={row.pnl} largest={largest} />
            </td>
            <td className={`px-3 ${toneClass(row.pnl)}`}>{formatMoney(row.pnl, true)}</td>
            <td className={`px-3 ${WIDE_ONLY}`}>{formatPercent(row.share, true)}</td>
            <td className={`px-3 ${WIDE_ONLY}`}>{formatMoney(row.fees)}</td>
            <td className="px-3">{formatCount(row.trades)}</td>
            <td className={`px-3 ${WIDE_ONLY}`}>{formatPercent(row.held)}</td>
          </tr>
        ))}
      </Table>
      {!showsAll && rows.length > ROWS_AT_FIRST && (
        <Button className="mt-2" onClick={() => setShowsAll(true)}>Show all {formatCount(rows.length)} markets</Button>
      )}
    </section>
  );
}

/** A bar to the right of the middle for a gain, to the left for a loss; the figure stands beside it. */
function Bar({ value, largest }: { readonly value: number; readonly largest: number }) {
  const middle = BAR.width / 2;
  const length = largest > 0 ? Math.abs(value) / largest * middle : 0;
  return (
    <svg
      viewBox={`0 0 ${BAR.width} ${BAR.height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      className="h-3 w-full"
    >
      <rect
        x={value < 0 ? middle - length : middle}
        width={length}
        height={BAR.height}
        className={value < 0 ? "fill-loss" : "fill-gain"}
      />
      <line x1={middle} x2={middle} y2={BAR.height} className="stroke-strong-line" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
