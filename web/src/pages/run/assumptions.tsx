import type { Backtest, BacktestResult } from "../../api.ts";
import {
  formatCount,
  formatDuration,
  formatMoney,
  formatPercent,
  formatTime,
  toWords,
  writeTimes,
} from "../../parts/format.ts";

const FINDINGS = { passed: "text-gain", failed: "text-danger", skipped: "text-muted" } as const;
const MARKS = { passed: "✓", failed: "✕", skipped: "–" } as const;

/** The ground of a result: rules of execution, checks, ambiguous trades, data and keys. */
export function Assumptions({ backtest, result }: { readonly backtest: Backtest; readonly result: BacktestResult }) {
  const { execution, integrity, bounds, notes, data } = result;
  return (
    <div className="grid gap-x-8 gap-y-6 lg:grid-cols-2">
      <Section title="Rules of execution">
        <Rows rows={Object.entries(execution).map(([key, value]) => [key, show(value)])} />
      </Section>
      <div className="flex flex-col gap-6">
        <Section title="Integrity">
          <ul>
            {Object.entries(integrity).map(([name, { status, evidence }]) => (
              <li key={name} className="border-b border-line/60 py-1.5">
                <span className={`font-medium ${FINDINGS[status]}`}>
                  <span aria-hidden="true">{MARKS[status]}</span> {toWords(name)}: {status}
                </span>
                <p className="text-sm break-words text-muted">{writeTimes(evidence)}</p>
              </li>
            ))}
          </ul>
        </Section>
        <Section title="Ambiguity">
          {bounds === null
            ? <p className="text-muted">No trade depends on whether its stop or its target came first.</p>
            : (
              <Rows
                rows={[
                  ["stops first", `${formatMoney(bounds.stop_first.final_equity)}, ${bounds.stop_first.trades} trades`],
                  [
                    "targets first",
                    `${formatMoney(bounds.target_first.final_equity)}, ${bounds.target_first.trades} trades`,
                  ],
                ]}
              />
            )}
        </Section>
        {result.portfolio !== undefined && (
          <Section title="Instruments">
            <Rows
              rows={result.portfolio.contributions.map(({ instrument, pnl, trades, held, currency }) =>
                [
                  currency === undefined ? instrument : `${instrument}, in ${currency}`,
                  `${formatMoney(pnl, true)}, ${formatCount(trades)} trades, held ${formatPercent(held)} of the time`,
                ] as const
              )}
            />
          </Section>
        )}
        <Section title="Data and keys">
          <Rows
            rows={[
              ["candles", `${formatCount(data.candles)}, ${formatCount(data.gaps)} gaps`],
              ["first to last (UTC)", `${formatTime(data.first)} to ${formatTime(data.last)}`],
              ["data SHA-256", data.sha256],
              ...(data.conversions ?? []).map(({ currency, symbol, exchange, sha256 }) =>
                [`${currency} by ${symbol}@${exchange}, SHA-256`, sha256] as const
              ),
              ["run key", result.run_key],
              ["engine", result.engine_version],
              ["strategy", [backtest.strategy_slug, backtest.strategy_version].filter(Boolean).join(" ") || "inline"],
              ...(result.module_sha256 === null ? [] : [["module SHA-256", result.module_sha256] as const]),
              ["computed in", formatDuration(result.duration_ms)],
            ]}
          />
        </Section>
        {notes.length > 0 && (
          <Section title="Notes">
            <ul className="list-disc pl-5">{notes.map((note) => <li key={note}>{writeTimes(note)}</li>)}</ul>
          </Section>
        )}
      </div>
    </div>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <section>
      <h2 className="mb-1 text-sm font-semibold">{title}</h2>
      {children}
    </section>
  );
}

function Rows({ rows }: { readonly rows: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl>
      {rows.map(([name, value]) => (
        <div key={name} className="flex justify-between gap-6 border-b border-line/60 py-1">
          <dt className="shrink-0 text-muted">{name}</dt>
          <dd className="min-w-0 text-right break-all">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function show(value: unknown): string {
  if (value === null) return "none";
  if (typeof value !== "object") return String(value);
  return Object.entries(value).map(([key, each]) => `${key} ${show(each)}`).join(", ");
}
