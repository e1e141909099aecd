import { lazy, Suspense } from "react";
import type { Backtest } from "../../../api.ts";
import { type ChartMarket, isTraded } from "./panes.ts";
import type { RunBars } from "./run_bars.ts";
import type { StackedChart } from "./stacked_chart.ts";

const BarDetails = lazy(async () => ({ default: (await import("./bar_details.tsx")).BarDetails }));

/** A bar that was clicked, or reached by a key. */
export interface Picked {
  readonly data: RunBars;
  readonly bar: number;
}

/** Says what happened at a bar that was picked. @param shown Null in a run over one market. */
export function PickedBar({ data, bar, zone, run: { id, result }, shown, onClose }: Picked & {
  readonly run: Pick<Backtest, "id" | "result">;
  readonly zone: string;
  readonly shown: ChartMarket | null;
  readonly onClose: () => void;
}) {
  return (
    <Suspense>
      <BarDetails
        data={data}
        bar={bar}
        zone={zone}
        id={id}
        market={shown?.drawn ?? null}
        isTraded={isTraded(result, shown)}
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
