import type { Optimization } from "../../api.ts";
import { formatCount, formatDate, formatMoney } from "../../parts/format.ts";
import { chooseDates, chooseTicks, linear } from "../../parts/scale.ts";
import { Drawing, useFrame } from "../run/overview/drawing.tsx";

type Account = NonNullable<Optimization["out_of_sample"]>;

/** The equity of the account that trades the test windows one after the other, over their dates. */
export function AccountCurve({ account: { equity, days, final_equity: final } }: { readonly account: Account }) {
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
