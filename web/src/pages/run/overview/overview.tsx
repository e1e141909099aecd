import type { Backtest, BacktestResult, TradeTable } from "../../../api.ts";
import { formatMoney } from "../../../parts/format.ts";
import { CutTrades } from "../cut_trades.tsx";
import { Distribution } from "./distribution.tsx";
import { Excursions } from "./excursions.tsx";
import { MonthlyReturns } from "./monthly_returns.tsx";

/** A result from three sides: months, trades, and how far trades went against and for it. */
export function Overview({ backtest, result, trades }: {
  readonly backtest: Backtest;
  readonly result: BacktestResult;
  readonly trades: TradeTable | undefined;
}) {
  return (
    <div className="flex flex-col gap-6">
      <Warnings result={result} />
      <MonthlyReturns id={backtest.id} />
      <CutTrades result={result} trades={trades} />
      <div className="grid gap-6 lg:grid-cols-2 print:grid-cols-2">
        <Distribution trades={trades} />
        <Excursions trades={trades} />
      </div>
      {result.notes.length > 0 && (
        <ul aria-label="Notes" className="text-sm text-muted">
          {result.notes.map((note) => <li key={note} className="break-words">{note}</li>)}
        </ul>
      )}
    </div>
  );
}

/** Remarks to read before the figures. */
function Warnings({ result: { integrity, bounds } }: { readonly result: BacktestResult }) {
  const failed = Object.entries(integrity).filter(([, { status }]) => status === "failed");
  const lines = [
    ...failed.map(([name, { evidence }]) => `The check of ${name} failed: ${evidence}`),
    ...(bounds === null ? [] : [
      `Some trades are ambiguous: the final equity lies between ${
        formatMoney(bounds.stop_first.final_equity)
      }, if each stop was first, and ${formatMoney(bounds.target_first.final_equity)}, if each target was.`,
    ]),
  ];
  if (lines.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1 text-sm">
      {lines.map((line) => (
        <li key={line} className="border-l-4 border-warn bg-sunken px-3 py-1.5 break-words">{line}</li>
      ))}
    </ul>
  );
}
