import { useMemo } from "react";
import type { TradeTable } from "../../../api.ts";
import { formatCount, formatPercent, formatTickPercent } from "../../../parts/format.ts";
import { chooseTicks, linear, quantile } from "../../../parts/scale.ts";
import { Drawing, NoTrades, useFrame } from "./drawing.tsx";

const TITLE = "Distribution of trade returns";
const BINS = 40;

/** How many closed trades returned how much. The outermost hundredth on each side counts in the last bars. */
export function Distribution({ trades }: { readonly trades: TradeTable | undefined }) {
  const frame = useFrame();
  const bins = useMemo(() => countReturns(trades), [trades]);
  if (bins === null) return <NoTrades title={TITLE} />;
  const { low, width, counts } = bins;
  const high = low + width * counts.length;
  const most = Math.max(...counts);
  const x = linear([low, high], [frame.left, frame.width - frame.right]);
  const y = linear([0, most], [frame.height - frame.bottom, frame.top]);
  const won = counts.reduce((sum, count, i) => sum + (low + i * width >= 0 ? count : 0), 0);
  const all = counts.reduce((sum, count) => sum + count, 0);
  return (
    <Drawing
      title={TITLE}
      description={`Of ${formatCount(all)} closed trades about ${
        formatCount(won)
      } returned more than nothing; most lie between ${formatPercent(low)} and ${formatPercent(high)}.`}
      xLabel="Return of a trade"
      xTicks={chooseTicks(low, high, 7).map((value) => [x(value), formatTickPercent(value)])}
      yTicks={chooseTicks(0, most, 4).filter(Number.isInteger).map((value) => [y(value), formatCount(value)])}
    >
      {counts.map((count, i) => {
        const start = low + i * width;
        return (
          <rect
            key={start}
            x={x(start) + 0.5}
            width={Math.max(1, x(start + width) - x(start) - 1)}
            y={y(count)}
            height={y(0) - y(count)}
            className={start >= -width / 2 ? "fill-gain" : "fill-loss"}
          />
        );
      })}
    </Drawing>
  );
}

/** Bars of equal width with an edge at zero; null without a closed trade. */
function countReturns(trades: TradeTable | undefined): { low: number; width: number; counts: number[] } | null {
  if (trades === undefined) return null;
  const returns = trades.return.filter((_, i) => trades.exit_time[i] !== null).sort((a, b) => a - b);
  if (returns.length === 0) return null;
  const [least, most] = [Math.min(0, quantile(returns, 0.01)), Math.max(0, quantile(returns, 0.99))];
  const width = (most - least) / BINS || 0.01;
  const below = Math.ceil(-least / width);
  const counts = new Array<number>(below + Math.max(1, Math.ceil(most / width))).fill(0);
  for (const value of returns) {
    const bin = Math.min(counts.length - 1, Math.max(0, Math.floor(value / width) + below));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return { low: -below * width, width, counts };
}
