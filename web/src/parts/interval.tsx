import { formatRatio } from "./format.ts";

/** The 95 % interval of a Sharpe ratio, small below it; nothing where it is not known. */
export function Interval({ low, high }: {
  readonly low: number | null | undefined;
  readonly high: number | null | undefined;
}) {
  if (typeof low !== "number" || typeof high !== "number") return null;
  return <span className="block text-2xs font-normal text-muted">95%: {formatRatio(low)} to {formatRatio(high)}</span>;
}
