import { useQuery } from "@tanstack/react-query";
import { api, type Backtest, type BacktestResult } from "../../../api.ts";
import { formatMoney, toWords, writeTimes } from "../../../parts/format.ts";
import { Distribution } from "./distribution.tsx";
import { Excursions } from "./excursions.tsx";
import { MonthlyReturns } from "./monthly_returns.tsx";

/** A result from three sides: months, trades, and how far trades went against and for it. */
export function Overview({ backtest: { id }, result }: {
  readonly backtest: Backtest;
  readonly result: BacktestResult;
}) {
  const { data: spread } = useQuery(api.backtests.tradeSpread.queryOptions({ id }, { staleTime: Infinity }));
  return (
    <div className="@container flex flex-col gap-6">
      <Warnings result={result} />
      <MonthlyReturns id={id} />
      <div className="grid gap-6 lg:grid-cols-2 lg:@max-[64rem]:[&_svg]:text-[13px] print:grid-cols-2">
        <Distribution spread={spread} />
        <Excursions spread={spread} />
      </div>
      {result.notes.length > 0 && (
        <ul aria-label="Notes" className="text-sm text-muted">
          {otherNotes(result).map((note) => <li key={note} className="break-words">{writeTimes(note)}</li>)}
        </ul>
      )}
    </div>
  );
}

/** The notes that do not stand above the figures already. */
function otherNotes({ notes, integrity }: BacktestResult): string[] {
  const shown = Object.values(integrity).filter(({ status }) => status === "failed").map(({ evidence }) => evidence);
  return notes.filter((note) => !shown.some((evidence) => note.endsWith(evidence)));
}

/** Remarks to read before the figures. */
function Warnings({ result: { integrity, bounds, portfolio } }: { readonly result: BacktestResult }) {
  const calls = portfolio?.margin_bounds;
  const failed = Object.entries(integrity).filter(([, { status }]) => status === "failed");
  const lines = [
    ...failed.map(([name, { evidence }]) => ({
      text: `The check of ${toWords(name)} failed: ${writeTimes(evidence)}`,
      look: "border-danger text-danger",
    })),
    ...(bounds === null ? [] : [{
      text: `Some trades are ambiguous: the final equity lies between ${
        formatMoney(bounds.stop_first.final_equity)
      }, if each stop was first, and ${formatMoney(bounds.target_first.final_equity)}, if each target was.`,
      look: "border-warn",
    }]),
    ...(calls === undefined ? [] : [{
      text: `Margin calls depend on whether worst prices came together: the final equity is ${
        formatMoney(calls.worst_together.final_equity)
      } if they did, as counted here, and ${formatMoney(calls.closes_only.final_equity)} by closes alone.`,
      look: "border-warn",
    }]),
  ];
  if (lines.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1 text-sm">
      {lines.map(({ text, look }) => (
        <li key={text} className={`border-l-4 bg-sunken px-3 py-1.5 break-words ${look}`}>{text}</li>
      ))}
    </ul>
  );
}
