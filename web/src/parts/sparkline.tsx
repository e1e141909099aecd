import { linear } from "./scale.ts";

const WIDTH = 100;
const HEIGHT = 24;

/**
 * The course of an equity in a few pixels, with a line where it began. The figures beside it say the same to a screen reader.
 *
 * @param points Fractions of the initial balance; null where there is no course.
 */
export function Sparkline({ points }: { readonly points: readonly number[] | null }) {
  if (points === null || points.length < 2) return <div className="h-6" />;
  const x = linear([0, points.length - 1], [0, WIDTH]);
  const y = linear([Math.min(1, ...points), Math.max(1, ...points)], [HEIGHT - 1, 1]);
  const line = points.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  const tone = points.at(-1)! >= 1 ? "stroke-gain" : "stroke-loss";
  return (
    <svg aria-hidden="true" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" className="h-6 w-full">
      <line
        x1="0"
        x2={WIDTH}
        y1={y(1)}
        y2={y(1)}
        strokeDasharray="2 3"
        vectorEffect="non-scaling-stroke"
        className="stroke-strong-line"
      />
      <polyline
        points={line}
        fill="none"
        strokeWidth="1.25"
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
        className={tone}
      />
    </svg>
  );
}
