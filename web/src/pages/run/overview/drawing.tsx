/// <reference lib="dom" />
import { type ReactNode, useSyncExternalStore } from "react";

const WIDE = { width: 560, height: 240, left: 52, right: 8, top: 8, bottom: 34 } as const;
// As wide as a phone shows it, so that its texts are not made smaller.
const NARROW = { ...WIDE, width: 330 } as const;
const phone = matchMedia("(width < 40rem)");
// Of a text of 10 pixels, with the gap to the next one.
const LETTER_PX = 6.5;
const GAP_PX = 8;

type Ticks = readonly (readonly [pixel: number, text: string])[];

/** The size of a drawing, and its room for axes, in pixels of its own. */
export function useFrame(): typeof WIDE | typeof NARROW {
  return useSyncExternalStore(followWidth, () => phone.matches ? NARROW : WIDE);
}

/** A drawing with axes; its description is read instead of it. */
export function Drawing({ title, description, xLabel, xTicks, yTicks, children }: {
  readonly title: string;
  readonly description: string;
  readonly xLabel: string;
  readonly xTicks: Ticks;
  readonly yTicks: Ticks;
  readonly children: ReactNode;
}) {
  const { width, height, left, right, top, bottom } = useFrame();
  return (
    <section>
      <h2 className="mb-1 text-sm font-semibold">{title}</h2>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={description}
        className="w-full fill-muted text-[10px]"
      >
        {yTicks.map(([y, text]) => (
          <g key={text}>
            <line x1={left} x2={width - right} y1={y} y2={y} className="stroke-line" />
            <text x={left - 6} y={y + 3} textAnchor="end">{text}</text>
          </g>
        ))}
        {thin(xTicks, width - left - right).map(([x, text]) => (
          <g key={text}>
            <line x1={x} x2={x} y1={top} y2={height - bottom} className="stroke-line" />
            <text x={x} y={height - bottom + 13} textAnchor="middle">{text}</text>
          </g>
        ))}
        {children}
        <text x={(left + width - right) / 2} y={height - 5} textAnchor="middle">{xLabel}</text>
      </svg>
    </section>
  );
}

/** Of ticks whose texts would touch, every second one, or every third and so on. */
function thin(ticks: Ticks, width: number): Ticks {
  const widest = Math.max(0, ...ticks.map(([, text]) => text.length)) * LETTER_PX + GAP_PX;
  const every = Math.ceil(widest * ticks.length / width);
  return ticks.filter((_, i) => i % every === 0);
}

function followWidth(notify: () => void): () => void {
  phone.addEventListener("change", notify);
  return () => phone.removeEventListener("change", notify);
}

/** The meaning of a drawing's lines and areas. @param looks Classes by the text that explains them. */
export function Keys({ looks }: { readonly looks: Readonly<Record<string, string>> }) {
  return (
    <ul aria-label="Legend" className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {Object.entries(looks).map(([text, look]) => (
        <li key={text} className="flex items-center gap-1.5">
          <span aria-hidden="true" className={`inline-block w-4 ${look}`} />
          {text}
        </li>
      ))}
    </ul>
  );
}

/** In place of a drawing of trades that are not there, or not yet. */
export function NoTrades({ title, isLoading }: { readonly title: string; readonly isLoading: boolean }) {
  return (
    <section>
      <h2 className="mb-1 text-sm font-semibold">{title}</h2>
      <p className="grid aspect-[560/240] place-items-center rounded-md bg-sunken/50 text-muted">
        {isLoading ? "Loading …" : "No closed trade"}
      </p>
    </section>
  );
}
