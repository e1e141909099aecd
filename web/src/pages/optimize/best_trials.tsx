import type { Optimization } from "../../api.ts";
import { formatExact, formatRatio } from "../../parts/format.ts";
import { ROW_CLASS, Table } from "../../parts/table.tsx";
import { Interval } from "../../parts/interval.tsx";
import { useMetric } from "../../parts/metric_value.ts";
import { useReadOnly } from "../../parts/read_only.ts";
import { RunTrial } from "./run_trial.tsx";

/** The best trials so far, each of which can be run as a backtest. */
export function BestTrials({ optimization }: { readonly optimization: Optimization }) {
  const { id, best, space, markets, objective } = optimization;
  const isReadOnly = useReadOnly();
  const { label } = useMetric()(objective);
  const hasSharpe = objective !== "sharpe" && best.some(({ sharpe }) => sharpe !== null);
  const names = Object.keys(space);
  const columns = [
    { label: "Trial", isText: true } as const,
    ...(markets === null ? [] : [{ label: "Market", isText: true, width: "10rem" } as const]),
    ...names.map((name) => ({ label: name, width: "8rem" })),
    { label, width: "9rem" },
    ...(hasSharpe ? [{ label: "Sharpe", width: "9rem" }] : []),
    ...(isReadOnly ? [] : [{ label: "As a run", width: "8rem" }]),
  ];
  return (
    <Table
      label="Best trials"
      columns={columns}
      minWidth={`${(hasSharpe ? 32 : 23) + (markets === null ? 0 : 10) + 8 * names.length}rem`}
      empty={`No trial has a value of ${label}.`}
    >
      {best.map(({ number, market, parameters, objective: value, sharpe, sharpe_low: low, sharpe_high: high }) => (
        <tr key={number} className={ROW_CLASS}>
          <td className="px-3 text-left text-muted">{number}</td>
          {markets !== null && <td className="truncate px-3 text-left">{market}</td>}
          {names.map((name) => <td key={name} className="truncate px-3">{String(parameters[name])}</td>)}
          <td className="px-3 font-medium">
            {formatExact(Number(value.toPrecision(5)))}
            {objective === "sharpe" && <Interval low={low} high={high} />}
          </td>
          {hasSharpe && (
            <td className="px-3">
              {formatRatio(sharpe)}
              <Interval low={low} high={high} />
            </td>
          )}
          {!isReadOnly && (
            <td className="px-3">
              <RunTrial id={id} number={number} />
            </td>
          )}
        </tr>
      ))}
    </Table>
  );
}
