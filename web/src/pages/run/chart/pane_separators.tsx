import { type KeyboardEvent, type RefObject, useEffect, useState } from "react";
import type { PaneBorder } from "./pane_borders.ts";
import type { StackedChart } from "./stacked_chart.ts";

/** Of the height of two neighbouring panes: what a key moves, and the least that either keeps. */
const STEP_PERCENT = 5;
const LEAST_PERCENT = 10;

/** The borders between panes for the keyboard; the mouse drags the chart's own. @param drawn Changes with the chart and its heights. */
export function PaneSeparators({ chart, container, drawn }: {
  readonly chart: RefObject<StackedChart | null>;
  readonly container: RefObject<HTMLDivElement | null>;
  readonly drawn: readonly unknown[];
}) {
  const [borders, setBorders] = useState<readonly PaneBorder[]>([]);
  useEffect(() => {
    const measure = () => setBorders(chart.current?.readBorders() ?? []);
    const frame = requestAnimationFrame(measure);
    const observer = new ResizeObserver(measure);
    if (container.current !== null) observer.observe(container.current);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
    };
  }, drawn);
  const move = (event: KeyboardEvent, i: number, percent: number) => {
    const wanted = { ArrowUp: percent - STEP_PERCENT, ArrowDown: percent + STEP_PERCENT, Home: 0, End: 100 }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    chart.current?.moveBorder(i, Math.max(LEAST_PERCENT, Math.min(100 - LEAST_PERCENT, wanted)));
  };
  return borders.map(({ key, title, top, percent }, i) => (
    <div
      key={key}
      role="separator"
      tabIndex={0}
      aria-label={`Height of ${title}`}
      aria-orientation="horizontal"
      aria-valuenow={Math.round(percent)}
      aria-valuemin={LEAST_PERCENT}
      aria-valuemax={100 - LEAST_PERCENT}
      onKeyDown={(event) => move(event, i, percent)}
      style={{ top: top - 2 }}
      className="pointer-events-none absolute inset-x-0 z-1 h-1 focus-visible:bg-accent print:hidden"
    />
  ));
}
