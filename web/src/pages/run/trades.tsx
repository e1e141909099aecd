import { useMemo, useState } from "react";
import { type BacktestResult, describeError, type TradeAt, type TradeTable } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { CutTrades, describeOpenTrades } from "../../parts/cut_trades.tsx";
import { formatCount } from "../../parts/format.ts";
import { numberOf } from "../../parts/metric_value.ts";
import { usePrinting } from "../../theme/theme.ts";
import { type TradeColumn, tradeColumns } from "./trade_cells.ts";
import {
  type ArrangedTrades,
  type Arrangement,
  OUTCOMES,
  PAGE,
  SIDES,
  useLocalTrades,
  useServedTrades,
} from "./trade_pages.ts";
import { TradeRows } from "./trade_rows.tsx";

/**
 * The trades of a run, sorted and filtered; a click shows one in the charts.
 *
 * @param own The first trades, in a page without a service, which are all that it has. @param zone IANA name, of the times.
 * @param market The instrument whose trades are shown; empty for all. @param chooseMarket Absent where there is no choice.
 * @param first The number of the one chosen at first.
 */
export function Trades({ id, result, own, zone, market = "", chooseMarket, first, showTrade }: {
  readonly id: string;
  readonly result: BacktestResult;
  readonly own?: TradeTable;
  readonly zone: string;
  readonly market?: string;
  readonly chooseMarket?: (instrument: string) => void;
  readonly first?: number | undefined;
  readonly showTrade: (trade: TradeAt) => void;
}) {
  const isPrinting = usePrinting();
  const [sort, setSort] = useState<Pick<Arrangement, "sort" | "order">>({ sort: "number", order: "asc" });
  const [side, setSide] = useState<Arrangement["side"]>("all");
  const [outcome, setOutcome] = useState<Arrangement["outcome"]>("all");
  const arrangement = { ...sort, side, outcome, ...(market === "" ? {} : { instrument: market }) };
  const served = useServedTrades(id, arrangement, own === undefined);
  const local = useLocalTrades(own, arrangement);
  const trades = own === undefined ? served : local;
  const { portfolio, metrics } = result;
  const columns = useMemo(() => tradeColumns(portfolio !== undefined, zone), [portfolio, zone]);
  const all = own?.number.length ?? (numberOf(metrics, "trades") ?? 0) + (numberOf(metrics, "open_trades") ?? 0);
  const open = describeOpenTrades(result);
  const markets = ["", ...(portfolio?.contributions ?? []).flatMap((each) => each.trades > 0 ? [each.instrument] : [])];
  if (all === 0) return <NoTrade />;
  if (trades.count === undefined) {
    return (
      <p role="status" className="p-8 text-center text-muted">
        {trades.error ? describeError(trades.error) : "Loading the trades …"}
      </p>
    );
  }
  return (
    <>
      <div className="mb-2 flex flex-wrap items-center gap-3 text-sm print:hidden">
        <Choice label="Side" values={SIDES} value={side} onChange={setSide} />
        <Choice label="Result" values={OUTCOMES} value={outcome} onChange={setOutcome} />
        {chooseMarket !== undefined && markets.length > 1 && (
          <Choice
            label="Market"
            values={markets}
            labelOf={(each) => each || "all"}
            value={market}
            onChange={chooseMarket}
          />
        )}
        <p className="text-muted" role="status">
          {formatCount(trades.count)} of {formatCount(all)} trades{open && ` (${open})`}
        </p>
      </div>
      {own !== undefined && <CutTrades result={result} shown={all} />}
      {isPrinting ? <PaperTrades trades={trades} count={trades.count} columns={columns} /> : (
        <TradeRows
          key={id}
          trades={trades}
          columns={columns}
          isTall={portfolio !== undefined}
          sort={sort}
          setSort={setSort}
          first={first}
          showTrade={showTrade}
        />
      )}
    </>
  );
}

function NoTrade() {
  return (
    <p className="p-8 text-center text-muted">
      The strategy made no trade. Its orders, if it placed any, say why; else its conditions never came true in this
      range.
    </p>
  );
}

/** The first trades as they are printed: as many columns as a sheet is wide. More would fill sheets that nobody reads. */
function PaperTrades({ trades, count, columns }: {
  readonly trades: ArrangedTrades;
  readonly count: number;
  readonly columns: readonly TradeColumn[];
}) {
  const shown = columns.filter(({ isWide }) => !isWide);
  const rows = Array.from({ length: Math.min(PAGE, count) }, (_, place) => trades.at(place))
    .filter((each) => each !== undefined);
  return (
    <>
      <table className="w-full text-right text-2xs">
        <thead className="text-muted">
          <tr>
            {shown.map(({ label, isText }) => (
              <th key={label} scope="col" className={`px-1 font-medium ${isText ? "text-left" : ""}`}>{label}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ table, i }) => (
            <tr key={table.number[i]} className="break-inside-avoid border-t border-line/60">
              {shown.map(({ label, show, tone, isText }) => (
                <td key={label} className={`px-1 ${isText ? "text-left" : ""} ${tone?.(table, i) ?? ""}`}>
                  {show(table, i)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {count > rows.length && (
        <p className="mt-1 text-muted">
          {formatCount(rows.length)} of {formatCount(count)} trades are printed.
        </p>
      )}
    </>
  );
}
