import { lazy, Suspense, useMemo } from "react";
import type { Backtest, TradeTable } from "../../../api.ts";
import type { ChartMarket } from "./panes.ts";
import type { RunBars } from "./run_bars.ts";
import type { StackedChart } from "./stacked_chart.ts";
import { describeFills } from "./trade_marks.ts";

const BarDetails = lazy(async () => ({ default: (await import("./bar_details.tsx")).BarDetails }));

/** A bar that was clicked, or reached by a key. */
export interface Picked {
  readonly data: RunBars;
  readonly bar: number;
}

/** Says what happened at a bar that was picked. @param shown Null in a run over one market. */
export function PickedBar({ data, bar, zone, run: { id, result }, shown, trades, onClose }: Picked & {
  readonly run: Pick<Backtest, "id" | "result">;
  readonly zone: string;
  readonly shown: ChartMarket | null;
  readonly trades: TradeTable | undefined;
  readonly onClose: () => void;
}) {
  const market = shown?.drawn ?? null;
  const fills = useMemo(() => trades && describeFills(trades, data, market), [trades, data, market]);
  return (
    <Suspense>
      <BarDetails
        data={data}
        bar={bar}
        zone={zone}
        id={id}
        market={market}
        isTraded={result?.portfolio?.contributions.some(({ instrument }) => instrument === market) ?? true}
        fills={fills?.get(bar)}
        onClose={onClose}
      />
    </Suspense>
  );
}

/** Goes to the bar beside one by an arrow, and zooms by `+` and `-`. @param fromMs The time of the bar. */
export function moveByKey(chart: StackedChart | null, key: string, fromMs: number): void {
  if (key === "ArrowLeft" || key === "ArrowRight") chart?.step(fromMs, key === "ArrowLeft" ? -1 : 1);
  if (key === "+" || key === "-") chart?.zoom(key === "+" ? 0.5 : 2);
}
