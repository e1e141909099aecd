import { type PointerEvent, useMemo } from "react";
import type { Surface } from "../../api.ts";
import { settingLabel } from "./setting_axes.ts";

// The tints that can be told apart; one path for each, since an element for each of 250,000 cells would be slow.
const TINTS = 24;
const LABELS_MAX = 12;
const GAP = 0.04;

type Place = readonly [column: number, row: number];

/** The cells between two, both included; a cell by itself is both. */
export interface Brush {
  readonly anchor: Place;
  readonly head: Place;
}

/**
 * A tinted cell for each pair of values. Around zero, gains and losses have their own colours. A press or an arrow key chooses a
 * cell; dragging, or an arrow key with Shift, chooses the cells up to another one.
 *
 * @param name The metric's. @param format Writes one of its values.
 */
export function HeatMap({ surface, name, format, brush, choose }: {
  readonly surface: Surface;
  readonly name: string;
  readonly format: (value: number | null) => string;
  readonly brush: Brush | null;
  readonly choose: (brush: Brush | null) => void;
}) {
  const { x, y, values } = surface;
  const [columns, rows] = [x.values.length, y?.values.length ?? 1];
  const drawn = useMemo(() => drawCells(values), [values]);
  const move = (across: number, up: number, isExtending: boolean) => {
    const [column, row] = brush?.head ?? [0, 0];
    const head = [clamp(column + across, columns), clamp(row + up, rows)] as const;
    choose({ anchor: isExtending ? brush?.anchor ?? [0, 0] : head, head });
  };
  const placeOf = ({ currentTarget, clientX, clientY }: PointerEvent): Place => {
    const { left, top, width, height } = currentTarget.getBoundingClientRect();
    const column = clamp(Math.floor((clientX - left) / width * columns), columns);
    return [column, clamp(Math.floor((1 - (clientY - top) / height) * rows), rows)];
  };
  const [xLabel, yLabel] = [settingLabel(x.parameter), y === null ? null : settingLabel(y.parameter)];
  return (
    <figure>
      <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 gap-y-1 text-2xs text-muted">
        <Labels values={y?.values ?? []} isUpward />
        <svg
          viewBox={`0 0 ${columns} ${rows}`}
          preserveAspectRatio="none"
          role="application"
          tabIndex={0}
          aria-label={`${name} over ${xLabel}${
            yLabel === null ? "" : ` and ${yLabel}`
          }; arrow keys choose a cell, with Shift a region`}
          className="h-72 w-full cursor-crosshair touch-pan-y select-none"
          // The browser would carry text that is selected around the map, and end the region.
          onDragStart={(event) => event.preventDefault()}
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            const head = placeOf(event);
            choose({ anchor: event.shiftKey ? brush?.anchor ?? head : head, head });
          }}
          onPointerMove={(event) => {
            if (!event.currentTarget.hasPointerCapture(event.pointerId) || brush === null) return;
            const head = placeOf(event);
            if (head[0] !== brush.head[0] || head[1] !== brush.head[1]) choose({ ...brush, head });
          }}
          onKeyDown={(event) => {
            const step = STEPS[event.key];
            if (step === undefined && event.key !== "Escape") return;
            event.preventDefault();
            if (step === undefined) choose(null);
            else move(...step, event.shiftKey);
          }}
        >
          {drawn.paths.map(({ tint, path }) => (
            <path key={tint} d={path} transform={`matrix(1 0 0 -1 0 ${rows})`} style={{ fill: colorOf(tint, drawn) }} />
          ))}
          {brush !== null && <Frame brush={brush} rows={rows} />}
        </svg>
        <span />
        <Labels values={x.values} />
      </div>
      <figcaption className="mt-1 flex flex-wrap items-center gap-x-3 text-xs text-muted">
        <span className="mr-auto">{xLabel} across{yLabel === null ? "" : `, ${yLabel} up`}</span>
        <Scale drawn={drawn} format={format} />
      </figcaption>
    </figure>
  );
}

const STEPS: Readonly<Record<string, readonly [across: number, up: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** A line around the chosen cells. */
function Frame({ brush, rows }: { readonly brush: Brush; readonly rows: number }) {
  const [[left, right], [bottom, top]] = rangesOf(brush);
  return (
    <rect
      x={left + GAP}
      y={rows - 1 - top + GAP}
      width={right - left + 1 - 2 * GAP}
      height={top - bottom + 1 - 2 * GAP}
      className="fill-transparent stroke-text"
      strokeWidth={2}
      vectorEffect="non-scaling-stroke"
    />
  );
}

/** The first and the last column, and the first and the last row, of a brush. */
export function rangesOf({ anchor, head }: Brush): readonly [columns: Place, rows: Place] {
  const [columns, rows] = [0, 1].map((side) => [anchor[side]!, head[side]!].sort((a, b) => a - b));
  return [[columns![0]!, columns![1]!], [rows![0]!, rows![1]!]];
}

interface Drawn {
  readonly paths: readonly { readonly tint: number; readonly path: string }[];
  readonly low: number;
  readonly high: number;
}

/** Cells by their tint: from -TINTS for the lowest to TINTS for the highest around zero, else from 0. */
function drawCells(values: Surface["values"]): Drawn {
  const known = values.flat().filter((value) => value !== null);
  const low = known.reduce((least, value) => Math.min(least, value), Infinity);
  const high = known.reduce((most, value) => Math.max(most, value), -Infinity);
  const parts = new Map<number, string[]>();
  values.forEach((row, j) =>
    row.forEach((value, i) => {
      if (value === null) return;
      const tint = tintOf(value, low, high);
      const part = parts.get(tint) ?? [];
      part.push(`M${i + GAP} ${j + GAP}h${1 - 2 * GAP}v${1 - 2 * GAP}h${2 * GAP - 1}z`);
      parts.set(tint, part);
    })
  );
  return { paths: [...parts].map(([tint, part]) => ({ tint, path: part.join("") })), low, high };
}

function tintOf(value: number, low: number, high: number): number {
  if (low < 0 && high > 0) return Math.round(TINTS * value / Math.max(-low, high));
  return high === low ? TINTS : Math.round(TINTS * (value - low) / (high - low));
}

function colorOf(tint: number, { low, high }: Drawn): string {
  const isAroundZero = low < 0 && high > 0;
  const color = tint < 0 ? "var(--loss)" : isAroundZero ? "var(--gain)" : "var(--accent)";
  return `color-mix(in oklab, ${color} ${8 + Math.round(Math.abs(tint) / TINTS * 92)}%, var(--surface))`;
}

function Scale({ drawn, format }: { readonly drawn: Drawn; readonly format: (value: number | null) => string }) {
  const { low, high } = drawn;
  if (!Number.isFinite(low)) return null;
  const steps = Array.from({ length: 9 }, (_, i) => low + (high - low) * i / 8);
  return (
    <span className="flex items-center gap-1.5 whitespace-nowrap">
      {format(low)}
      <span className="flex" aria-hidden="true">
        {steps.map((value, i) => (
          <span key={i} className="h-3 w-4" style={{ backgroundColor: colorOf(tintOf(value, low, high), drawn) }} />
        ))}
      </span>
      {format(high)}
    </span>
  );
}

/** Values along a side, thinned to what can be read. */
function Labels({ values, isUpward = false }: {
  readonly values: readonly (string | number | boolean)[];
  readonly isUpward?: boolean;
}) {
  const every = Math.ceil(values.length / LABELS_MAX);
  const look = isUpward ? "flex-col-reverse text-right" : "text-center";
  return (
    <div aria-hidden="true" className={`flex ${look}`}>
      {values.map((value, i) => (
        <span
          key={i}
          className="flex min-h-0 min-w-0 flex-1 items-center justify-center overflow-visible whitespace-nowrap"
        >
          {i % every === 0 ? String(value) : ""}
        </span>
      ))}
    </div>
  );
}

function clamp(place: number, count: number): number {
  return Math.min(count - 1, Math.max(0, place));
}
