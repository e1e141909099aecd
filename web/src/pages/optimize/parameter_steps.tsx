import { useState } from "react";
import type { Optimization } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { formatExact } from "../../parts/format.ts";
import { chooseTicks, linear } from "../../parts/scale.ts";
import { Drawing, useFrame } from "../run/overview/drawing.tsx";

type Windows = NonNullable<Optimization["windows"]>;

const TICKS_MAX = 5;

/** The best value of a parameter in each training, as steps over the tests that it traded. */
export function ParameterSteps(
  { windows, space }: { readonly windows: Windows; readonly space: Optimization["space"] },
) {
  const frame = useFrame();
  const names = Object.keys(space);
  const [name, setName] = useState(names[0] ?? "");
  const axis = space[name];
  if (axis === undefined) return null;
  const listed = "values" in axis ? axis.values : null;
  const isNumeric = listed === null || listed.every((value) => typeof value === "number");
  // Values without an order stand at their places.
  const levelOf = (value: string | number | boolean | undefined) =>
    value === undefined ? null : isNumeric ? Number(value) : listed?.indexOf(value) ?? null;
  const levels = windows.map(({ parameters }) => levelOf(parameters?.[name]));
  const known = levels.filter((level) => level !== null);
  const all = "values" in axis ? axis.values.map(levelOf).filter((level) => level !== null) : [axis.min, axis.max];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const textOf = (level: number) => isNumeric ? formatExact(level) : String(listed?.[level]);
  const width = (frame.width - frame.left - frame.right) / windows.length;
  const room = high === low ? 1 : (high - low) / 20;
  const y = linear([low - room, high + room], [frame.height - frame.bottom, frame.top]);
  const every = Math.ceil(windows.length / TICKS_MAX);
  const ticks = isNumeric ? chooseTicks(low, high, 5) : all;
  const spread = known.length === 0
    ? "no window has any"
    : `from ${textOf(Math.min(...known))} to ${textOf(Math.max(...known))}, of ${textOf(low)} to ${textOf(high)}`;
  return (
    <div>
      {names.length > 1 && (
        <div className="mb-1 flex sm:float-right">
          <Choice label="Parameter" values={names} value={name} onChange={setName} />
        </div>
      )}
      <Drawing
        title="Parameters over the windows"
        description={`The best ${name} of each training: ${spread}`}
        xLabel="Start of the test"
        xTicks={windows.flatMap(({ test_start }, i) =>
          i % every === 0 ? [[frame.left + (i + 0.5) * width, test_start] as const] : []
        )}
        yTicks={ticks.map((level) => [y(level), textOf(level)])}
      >
        {levels.map((level, i) => {
          const [left, before] = [frame.left + i * width, levels[i - 1] ?? null];
          return level !== null && (
            <g key={windows[i]!.test_start} strokeWidth={2} className="stroke-accent">
              <title>{`${windows[i]!.test_start} to ${windows[i]!.test_end}: ${name} ${textOf(level)}`}</title>
              <line x1={left} x2={left + width} y1={y(level)} y2={y(level)} />
              {before !== null && <line x1={left} x2={left} y1={y(before)} y2={y(level)} strokeWidth={1} />}
            </g>
          );
        })}
      </Drawing>
      <p className="text-xs text-muted">{`${name}: ${spread}.`}</p>
    </div>
  );
}
