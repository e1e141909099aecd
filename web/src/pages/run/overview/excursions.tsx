import { useMemo } from "react";
import type { TradeSpread } from "../../../api.ts";
import { formatCount, formatPercent, formatTickPercent } from "../../../parts/format.ts";
import { chooseTicks, linear } from "../../../parts/scale.ts";
import { Drawing, Keys, NoTrades, useFrame } from "./drawing.tsx";

const TITLE = "How far trades went: against (MAE) and for (MFE)";

/** A point for each closed trade: its worst and its best moment. Wins are round, losses square. */
export function Excursions({ spread }: { readonly spread: TradeSpread | undefined }) {
  const frame = useFrame();
  const drawn = useMemo(() => spread && drawPoints(spread, frame), [spread, frame]);
  if (drawn === undefined || spread === undefined || spread.trades === 0) {
    return <NoTrades title={TITLE} isLoading={spread === undefined} />;
  }
  const { maeMax, mfeMax, x, y, won, lost } = drawn;
  return (
    <div>
      <Drawing
        title={TITLE}
        description={`${formatCount(spread.trades)} closed trades: adverse excursions up to ${
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

function drawPoints({ excursions }: TradeSpread, frame: ReturnType<typeof useFrame>) {
  const { mae_max: maeMax, mfe_max: mfeMax, mae, mfe, won: wins } = excursions;
  const x = linear([0, maeMax], [frame.left, frame.width - frame.right]);
  const y = linear([0, mfeMax], [frame.height - frame.bottom, frame.top]);
  // One path for all points of a kind: 20,000 elements would be slow.
  const draw = (isWon: boolean) =>
    mae.map((against, i) => wins[i] === isWon ? `M${x(against).toFixed(1)} ${y(mfe[i]!).toFixed(1)}h0` : "").join("");
  return { maeMax, mfeMax, x, y, won: draw(true), lost: draw(false) };
}
