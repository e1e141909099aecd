import type { Optimization } from "../../api.ts";
import { formatPercent, formatRatio, toneClass } from "../../parts/format.ts";
import { Interval } from "../../parts/interval.tsx";
import { ROW_CLASS, Table } from "../../parts/table.tsx";
import { Tip } from "../../parts/tip.tsx";
import { AccountCurve } from "./account_curve.tsx";
import { ParameterSteps } from "./parameter_steps.tsx";
import { WindowBars } from "./window_bars.tsx";

type Windows = NonNullable<Optimization["windows"]>;
type OutOfSample = NonNullable<Optimization["out_of_sample"]>;

const COLUMNS = [
  { label: "Training", isText: true, width: "13rem" },
  { label: "Test", isText: true, width: "13rem" },
  { label: "Parameters", isText: true },
  { label: "Return in sample", width: "9rem" },
  { label: "Out of sample", width: "9rem" },
] as const;
const FIGURES = [
  { name: "total_return", label: "Return", format: formatPercent },
  { name: "annual_return", label: "Annual return", format: formatPercent },
  { name: "in_sample_annual_return", label: "Annual, in sample", format: formatPercent },
  { name: "efficiency", label: "Efficiency", format: formatRatio },
  { name: "sharpe", label: "Sharpe ratio", format: formatRatio },
  { name: "max_drawdown", label: "Max drawdown", format: formatPercent },
  { name: "exposure", label: "Exposure", format: formatPercent },
  { name: "in_sample_exposure", label: "Exposure, in sample", format: formatPercent },
  { name: "stability", label: "Next best within a step", format: formatPercent },
] as const;

/** The walk-forward windows of an optimization, and the account that trades their tests. */
export function WalkForward({ windows, outOfSample, objective, space }: {
  readonly windows: Windows;
  readonly outOfSample: OutOfSample | null;
  readonly objective: Optimization["objective"];
  readonly space: Optimization["space"];
}) {
  const hasRun = windows.some(({ in_sample }) => in_sample !== null);
  return (
    <>
      <h2 className="mb-2 text-lg font-semibold">Walk-forward</h2>
      {outOfSample !== null && (
        <p className="mb-3 text-sm text-muted">
          {outOfSample.carried
            ? "One account trades all tests and keeps its position from one to the next."
            : "Each test starts flat, and one account earns their returns one after the other."}
          {outOfSample.undefined_figures["carried"] !== undefined && ` ${outOfSample.undefined_figures["carried"]}`}
        </p>
      )}
      {outOfSample !== null && <Figures account={outOfSample} />}
      <div className="my-4 grid gap-6 lg:grid-cols-2">
        {hasRun && <WindowBars windows={windows} objective={objective} />}
        {outOfSample !== null && outOfSample.days > 0 && <AccountCurve account={outOfSample} />}
        {hasRun && <ParameterSteps windows={windows} space={space} />}
      </div>
      <Table label="Walk-forward windows" columns={COLUMNS} minWidth="56rem" empty="No window has begun.">
        {windows.map((
          { train_start, train_end, test_start, test_end, parameters, in_sample, out_of_sample, error },
        ) => (
          <tr key={train_end} className={ROW_CLASS}>
            <td className="px-3 text-left text-muted">{train_start} – {train_end}</td>
            <td className="px-3 text-left">{test_start} – {test_end}</td>
            <td className="truncate px-3 text-left">{error?.message ?? describe(parameters)}</td>
            <td className="px-3">{formatPercent(in_sample?.total_return ?? null, true)}</td>
            <td className={`px-3 font-medium ${toneClass(out_of_sample?.total_return ?? null)}`}>
              {formatPercent(out_of_sample?.total_return ?? null, true)}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function describe(parameters: Windows[number]["parameters"]): string {
  return Object.entries(parameters ?? {}).map(([name, value]) => `${name} ${value}`).join(", ");
}

function Figures({ account }: { readonly account: OutOfSample }) {
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-6">
      {FIGURES.map(({ name, label, format }) => {
        const reason = account.undefined_figures[name];
        return (
          <div key={name}>
            <dt className="text-xs text-muted">
              {reason === undefined ? label : <Tip text={`No value here: ${reason}`}>{label}</Tip>}
            </dt>
            <dd className="font-medium">
              {format(account[name])}
              {name === "sharpe" && <Interval low={account.sharpe_low} high={account.sharpe_high} />}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
