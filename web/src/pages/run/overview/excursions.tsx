import { useMemo } from "react";
import type { TradeTable } from "../../../api.ts";
import { formatCount, formatPercent, formatTickPercent } from "../../../parts/format.ts";
import { chooseTicks, linear, quantile } from "../../../parts/scale.ts";
import { Drawing, Keys, NoTrades, useFrame } from "./drawing.tsx";

const TITLE = "How far trades went: against (MAE) and for (MFE)";

/** A point for each closed trade: its worst and its best moment. Wins are round, losses square. */
export function Excursions({ trades }: { readonly trades: TradeTable | undefined }) {
  const frame = useFrame();
  const drawn = useMemo(() => drawPoints(trades, frame), [trades, frame]);
  if (drawn === null) return <NoTrades title={TITLE} />;
  const { maeMax, mfeMax, x, y, won, lost, count } = drawn;
  return (
    <div>
      <Drawing
        title={TITLE}
        description={`${formatCount(count)} closed trades: adverse excursions up to ${
          formatPercent(maeMax)
        }, favourable ones up to ${formatPercent(mfeMax)}. Losses lie right and low, wins left and high.`}
        xLabel="Against the trade, of its entry price"
        xTicks={chooseTicks(0, maeMax, 6).map((value) => [x(value), formatTickPercent(value)])}
        yTicks={chooseTicks(0, mfeMax, 4).map((value) => [y(value), formatTickPercent(value)])}
      >
        <path d={lost} className="stroke-loss" strokeWidth="3.5" strokeLinecap="square" strokeOpacity="0.6" />
        <path d={won} className="stroke-gain" strokeWidth="4" strokeLinecap="round" strokeOpacity="0.6" />
      </Drawing>
      <Keys looks={{ "Won": "bg-gain h-2 w-2! rounded-full", "Lost": "bg-loss h-2 w-2!" }} />
    </div>
  );
}

function drawPoints(trades: TradeTable | undefined, frame: ReturnType<typeof useFrame>) {
  if (trades === undefined) return null;
  const closed = trades.number.map((_, i) => i).filter((i) => trades.exit_time[i] !== null);
  if (closed.length === 0) return null;
  const highest = (values: readonly number[]) =>
    quantile(closed.map((i) => Math.abs(values[i]!)).sort((a, b) => a - b), 0.995) * 1.05 || 0.01;
  const [maeMax, mfeMax] = [highest(trades.mae), highest(trades.mfe)];
  const x = linear([0, maeMax], [frame.left, frame.width - frame.right]);
  const y = linear([0, mfeMax], [frame.height - frame.bottom, frame.top]);
  // One path for all points of a kind: 20,000 elements would be slow.
  const draw = (indexes: readonly number[]) =>
    indexes.map((i) => {
      const mae = Math.min(maeMax, Math.abs(trades.mae[i]!));
      const mfe = Math.min(mfeMax, Math.abs(trades.mfe[i]!));
      return `M${x(mae).toFixed(1)} ${y(mfe).toFixed(1)}h0`;
    }).join("");
  const won = draw(closed.filter((i) => trades.pnl[i]! > 0));
  const lost = draw(closed.filter((i) => trades.pnl[i]! <= 0));
  return { maeMax, mfeMax, x, y, won, lost, count: closed.length };
}
