/** The tokens of the curves' colours, in the order of the runs; the lines' styles tell them apart, too. */
export const CURVE_TOKENS = ["accent", "loss", "gain", "warn", "muted"] as const;
const DASHES = ["", "2 4", "7 4", "12 5", "2 8"];

/** The number of a run, and the look of its curve. */
export function Swatch({ index }: { readonly index: number }) {
  return (
    <span className="mt-0.5 inline-flex shrink-0 items-center gap-1 text-sm font-semibold">
      {index + 1}
      <svg width="30" height="8" aria-hidden="true">
        <line
          x1="1"
          y1="4"
          x2="29"
          y2="4"
          strokeWidth="2"
          stroke={`var(--${CURVE_TOKENS[index] ?? "text"})`}
          strokeDasharray={DASHES[index] ?? ""}
        />
      </svg>
    </span>
  );
}
