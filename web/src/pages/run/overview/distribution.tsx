import type { TradeSpread } from "../../../api.ts";
import { formatCount, formatPercent, formatTickPercent } from "../../../parts/format.ts";
import { chooseTicks, linear } from "../../../parts/scale.ts";
import { Drawing, NoTrades, useFrame } from "./drawing.tsx";

const TITLE = "Distribution of trade returns";

/** How many closed trades returned how much. The outermost hundredth on each side counts in the last bars. */
export function Distribution({ spread }: { readonly spread: TradeSpread | undefined }) {
  const frame = useFrame();
  if (spread === undefined || spread.trades === 0) return <NoTrades title={TITLE} isLoading={spread === undefined} />;
  const { low, width, counts } = spread.returns;
  const high = low + width * counts.length;
  const most = Math.max(...counts);
  const x = linear([low, high], [frame.left, frame.width - frame.right]);
  const y = linear([0, most], [frame.height - frame.bottom, frame.top]);
  const won = counts.reduce((sum, count, i) => sum + (low + i * width >= 0 ? count : 0), 0);
  return (
    <Drawing
      title={TITLE}
      description={`Of ${formatCount(spread.trades)} closed trades about ${
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
