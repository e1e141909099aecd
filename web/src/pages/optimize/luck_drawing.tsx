import type { Optimization } from "../../api.ts";
import { formatCount, formatPercent, formatRatio, formatTickPercent } from "../../parts/format.ts";
import { useMetric } from "../../parts/metric_value.ts";
import { chooseTicks, linear } from "../../parts/scale.ts";
import { Tip } from "../../parts/tip.tsx";
import { Drawing, Keys, useFrame } from "../run/overview/drawing.tsx";

type Luck = NonNullable<Optimization["luck"]>;
type Check = Pick<Luck, "best" | "expected_best" | "p_value" | "spa_p_value" | "survivors" | "distribution">;

/** The part of the drawing's width that stays free beside the outermost value. */
const MARGIN = 0.04;

/** The best of the trials without skill in each resample as bars, and the best trial among them. */
export function LuckDrawing({ title, objective, check }: {
  readonly title: string;
  readonly objective: string;
  readonly check: Check;
}) {
  const frame = useFrame();
  const metric = useMetric()(objective);
  const { distribution, best, expected_best: expected, p_value: p } = check;
  if (distribution === null || best === null || expected === null) return null;
  const { from, to, counts } = distribution;
  // An account by itself is drawn as its growth.
  const isFraction = metric.format === "percent" || metric.format === "money";
  const format = (value: number) => isFraction ? formatPercent(value) : formatRatio(value);
  const spread = Math.max(Math.max(to, best) - Math.min(from, best), Number.EPSILON);
  const [low, high] = [Math.min(from, best) - MARGIN * spread, Math.max(to, best) + MARGIN * spread];
  const x = linear([low, high], [frame.left, frame.width - frame.right]);
  const most = Math.max(...counts);
  const all = counts.reduce((sum, each) => sum + each, 0);
  const y = linear([0, most], [frame.height - frame.bottom, frame.top + 12]);
  const width = (to - from) / counts.length;
  const isRight = x(best) < frame.width / 2;
  return (
    <div>
      <Drawing
        title={title}
        description={`Without skill, the best of the trials has a median of ${format(expected)}; the best trial has ${
          format(best)
        }, ` +
          `which they reach in ${formatPercent(p)} of the cases`}
        xLabel={`${metric.label} of the best trial`}
        xTicks={chooseTicks(low, high, 6).map((
          value,
        ) => [x(value), isFraction ? formatTickPercent(value) : formatRatio(value)])}
        yTicks={chooseTicks(0, most / all, 4).map((
          share,
        ) => [y(share * all), formatTickPercent(share)])}
      >
        {counts.map((count, i) => (
          <rect
            key={i}
            x={x(from + i * width)}
            width={Math.max(1, x(from + (i + 1) * width) - x(from + i * width) - 0.5)}
            y={y(count)}
            height={frame.height - frame.bottom - y(count)}
            className="fill-strong-line"
          />
        ))}
        <line
          x1={x(expected)}
          x2={x(expected)}
          y1={y(0)}
          y2={frame.top + 12}
          strokeDasharray="3 3"
          className="stroke-muted"
        />
        <line x1={x(best)} x2={x(best)} y1={y(0)} y2={frame.top} strokeWidth={2} className="stroke-accent" />
        <text
          x={x(best) + (isRight ? 5 : -5)}
          y={frame.top + 8}
          textAnchor={isRight ? "start" : "end"}
          className="fill-text"
        >
          {`best trial ${format(best)}`}
        </text>
      </Drawing>
      <Keys
        looks={{
          "The best without skill": "bg-strong-line h-3",
          "Half of them are above it": "h-0 border-t border-dashed border-muted",
          "The best trial": "bg-accent h-0.5",
        }}
      />
      <CheckFigures check={check} />
    </div>
  );
}

function CheckFigures({ check: { p_value: p, spa_p_value: spa, survivors } }: { readonly check: Check }) {
  const figures = [
    [
      "p-value",
      "How often the best of the trials without skill is at least as good: White's reality check.",
      formatPercent(p),
    ],
    [
      "SPA p-value",
      "The same by Hansen's test, in which poor trials do not count against the best one.",
      formatPercent(spa),
    ],
    [
      "Trials that survive",
      "Trials that pass at 5% by themselves, by Romano and Wolf's step-down.",
      survivors === null ? "–" : formatCount(survivors.count),
    ],
  ] as const;
  return (
    <dl className="mt-2 grid grid-cols-3 gap-x-4">
      {figures.map(([label, meaning, value]) => (
        <div key={label}>
          <dt className="text-xs text-muted">
            <Tip text={meaning}>{label}</Tip>
          </dt>
          <dd className="font-medium">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
