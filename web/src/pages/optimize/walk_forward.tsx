import { useState } from "react";
import type { Optimization } from "../../api.ts";
import {
  formatCount,
  formatDate,
  formatExact,
  formatMoney,
  formatPercent,
  formatRatio,
  toneClass,
} from "../../parts/format.ts";
import { Interval } from "../../parts/interval.tsx";
import { ROW_CLASS, Table } from "../../parts/table.tsx";
import { Tip } from "../../parts/tip.tsx";
import { settingLabel } from "./setting_axes.ts";
import { useMetrics } from "../../parts/metric_value.ts";
import { WindowBars } from "./window_bars.tsx";
import { chooseDates, chooseTicks, linear } from "../../parts/scale.ts";
import { meaningOf } from "../run/metric_name.tsx";
import { Drawing, useFrame } from "../run/overview/drawing.tsx";
import { Choice } from "../../parts/choice.tsx";

type Windows = NonNullable<Optimization["windows"]>;
type OutOfSample = NonNullable<Optimization["out_of_sample"]>;

const COLUMNS = [
  { label: "Training", isText: true, width: "13rem" },
  { label: "Test", isText: true, width: "13rem" },
  { label: "Parameters", isText: true },
  { label: "Return in sample", width: "9rem" },
  { label: "Out of sample", width: "9rem" },
] as const;
/** The figures of the account; metrics of a run have their meaning elsewhere. */
const FIGURES: readonly {
  readonly name: {
    [Name in keyof OutOfSample]: OutOfSample[Name] extends number | null ? Name : never;
  }[keyof OutOfSample];
  readonly label: string;
  readonly meaning?: string;
  readonly format: (value: number | null) => string;
}[] = [
  { name: "total_return", label: "Return", format: formatPercent },
  { name: "annual_return", label: "Annual return", format: formatPercent },
  {
    name: "in_sample_annual_return",
    label: "Annual, in sample",
    meaning: "The mean growth per year of the trainings, with the parameters that traded.",
    format: formatPercent,
  },
  {
    name: "efficiency",
    label: "Efficiency",
    meaning: "The annual return of the tests over that of the trainings: near 1, the choice kept its promise.",
    format: formatRatio,
  },
  { name: "sharpe", label: "Sharpe ratio", format: formatRatio },
  { name: "max_drawdown", label: "Max drawdown", format: formatPercent },
  { name: "exposure", label: "Exposure", format: formatPercent },
  {
    name: "in_sample_exposure",
    label: "Exposure, in sample",
    meaning: "Share of the candles with a position, in the mean of the trainings.",
    format: formatPercent,
  },
  {
    name: "stability",
    label: "Next best within a step",
    meaning: "How often the best point of a window is at most one step away from that of the window before.",
    format: formatPercent,
  },
];

type Account = NonNullable<Optimization["out_of_sample"]>;

const TICKS_MAX = 5;

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
  return Object.entries(parameters ?? {}).map(([name, value]) => `${settingLabel(name)} ${value}`).join(", ");
}

function Figures({ account }: { readonly account: OutOfSample }) {
  const metrics = useMetrics();
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-6">
      {FIGURES.map(({ name, label, meaning, format }) => {
        const reason = account.undefined_figures[name];
        return (
          <div key={name}>
            <dt className="text-xs text-muted">
              <Tip
                text={
                  <>
                    {meaning ?? meaningOf(metrics, name)}
                    {reason !== undefined && <p className="mt-1 text-warn">No value here: {reason}</p>}
                  </>
                }
              >
                {label}
              </Tip>
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

/** The equity of the account that trades the test windows one after the other, over their dates. */
function AccountCurve({ account: { equity, days, final_equity: final } }: { readonly account: Account }) {
  const frame = useFrame();
  const values = equity.map((point) => point.equity);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  // Results from before points had dates have the numbers of their days alone.
  const isDated = equity.every(({ date }) => date !== null);
  const places = equity.map(({ day, date }) => isDated ? Date.parse(date ?? "") : day);
  const [first, last] = [places[0] ?? 0, places.at(-1) ?? 0];
  const x = linear([first, last], [frame.left, frame.width - frame.right]);
  const y = linear([low, high], [frame.height - frame.bottom, frame.top]);
  const line = values.map((value, i) => `${x(places[i] ?? 0).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  const range = isDated ? ` from ${formatDate(first)} to ${formatDate(last)}` : "";
  return (
    <Drawing
      title="The account out of sample"
      description={`The account out of sample over ${days} trading days${range}, at the end ${formatMoney(final)}`}
      xLabel={isDated ? "Date (UTC)" : "Trading days"}
      xTicks={isDated
        ? chooseDates(first, last, 5).map((time) => [x(time), formatDate(time)])
        : chooseTicks(first, last, 6).map((day) => [x(day), formatCount(day)])}
      yTicks={chooseTicks(low, high, 4).map((value) => [y(value), formatCount(value)])}
    >
      <line
        x1={frame.left}
        x2={frame.width - frame.right}
        y1={y(values[0] ?? 0)}
        y2={y(values[0] ?? 0)}
        strokeDasharray="4 4"
        className="stroke-strong-line"
      />
      <polyline points={line} strokeWidth={1.5} className="fill-none stroke-accent" />
    </Drawing>
  );
}

/** The best value of a parameter in each training, as steps over the tests that it traded. */
function ParameterSteps(
  { windows, space }: { readonly windows: Windows; readonly space: Optimization["space"] },
) {
  const frame = useFrame();
  const names = Object.keys(space);
  const [name, setName] = useState(names[0] ?? "");
  const axis = space[name];
  if (axis === undefined) return null;
  const listed = "values" in axis ? axis.values : null;
  const isNumeric = listed === null || listed.every((value) => typeof value === "number");
  // Values without an order stand at their places.
  const levelOf = (value: string | number | boolean | undefined) =>
    value === undefined ? null : isNumeric ? Number(value) : listed?.indexOf(value) ?? null;
  const levels = windows.map(({ parameters }) => levelOf(parameters?.[name]));
  const known = levels.filter((level) => level !== null);
  const all = "values" in axis ? axis.values.map(levelOf).filter((level) => level !== null) : [axis.min, axis.max];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const textOf = (level: number) => isNumeric ? formatExact(level) : String(listed?.[level]);
  const width = (frame.width - frame.left - frame.right) / windows.length;
  const room = high === low ? 1 : (high - low) / 20;
  const y = linear([low - room, high + room], [frame.height - frame.bottom, frame.top]);
  const every = Math.ceil(windows.length / TICKS_MAX);
  const ticks = isNumeric ? chooseTicks(low, high, 5) : all;
  const spread = known.length === 0
    ? "no window has any"
    : `from ${textOf(Math.min(...known))} to ${textOf(Math.max(...known))}, of ${textOf(low)} to ${textOf(high)}`;
  return (
    <div>
      {names.length > 1 && (
        <div className="mb-1 flex sm:float-right">
          <Choice label="Parameter" values={names} labelOf={settingLabel} value={name} onChange={setName} />
        </div>
      )}
      <Drawing
        title="Parameters over the windows"
        description={`The best ${name} of each training: ${spread}`}
        xLabel="Start of the test"
        xTicks={windows.flatMap(({ test_start }, i) =>
          i % every === 0 ? [[frame.left + (i + 0.5) * width, test_start] as const] : []
        )}
        yTicks={ticks.map((level) => [y(level), textOf(level)])}
      >
        {levels.map((level, i) => {
          const [left, before] = [frame.left + i * width, levels[i - 1] ?? null];
          return level !== null && (
            <g key={windows[i]!.test_start} strokeWidth={2} className="stroke-accent">
              <title>{`${windows[i]!.test_start} to ${windows[i]!.test_end}: ${name} ${textOf(level)}`}</title>
              <line x1={left} x2={left + width} y1={y(level)} y2={y(level)} />
              {before !== null && <line x1={left} x2={left} y1={y(before)} y2={y(level)} strokeWidth={1} />}
            </g>
          );
        })}
      </Drawing>
      <p className="text-xs text-muted">{`${name}: ${spread}.`}</p>
    </div>
  );
}
