/** The division of an optimization's points among jobs. */
import type { Optimization } from "../../db/optimizations.ts";

/** Computing time of a slice: about so long a dead worker's work is lost, and others wait. */
const SLICE_MS = 1000;
/** Longer for modules and scripts: each slice starts a process, whose first trials are slow. */
const CODE_SLICE_MS = 5000;
/** Python is quick after some seconds of a process alone. */
const PYTHON_SLICE_MS = 15_000;
/** A rest of more computing than this is parted, also of code: an idle worker ends it sooner, though a second process starts. */
const SHARED_REST_MS = 1000;
const PYTHON_REST_MS = 5000;
// Jobs of one optimization that wait or run: more workers than that find no more of its slices.
const SLICES_OPEN_MAX = 256;

/** Places from one to before another. */
export interface PlaceRange {
  readonly from: number;
  readonly until: number;
}

/** Computing time of a slice of an optimization. */
export function sliceMs({ runtime }: Pick<Optimization, "runtime">): number {
  if (isPython(runtime)) return PYTHON_SLICE_MS;
  return runtime === null || runtime.type === "remote" ? SLICE_MS : CODE_SLICE_MS;
}

/** Divides a stretch into parts of about equal length. */
export function divide({ from, until }: PlaceRange, parts: number): PlaceRange[] {
  const at = (part: number) => from + Math.round((until - from) * part / parts);
  return Array.from({ length: parts }, (_, part) => ({ from: at(part), until: at(part + 1) }));
}

/**
 * The rest of a stretch after a slice: in two parts while it is long, so that idle workers find one.
 *
 * @param slice `end`: the end of its stretch.
 */
export function divideRest(
  { slicesOpen, runtime, method }: Pick<Optimization, "slicesOpen" | "runtime" | "method">,
  slice: PlaceRange & { readonly end: number; readonly durationMs: number },
): PlaceRange[] {
  const { from, until, end, durationMs } = slice;
  if (until === end) return [];
  const rest = { from: until, until: end };
  const restMs = durationMs * (end - until) / (until - from);
  // An endpoint gets one trial at a time, and a guided search one round.
  const isShared = runtime?.type !== "remote" && method !== "tpe" && end - until > 1 && slicesOpen < SLICES_OPEN_MAX &&
    restMs > (isPython(runtime) ? PYTHON_REST_MS : SHARED_REST_MS);
  return divide(rest, isShared ? 2 : 1);
}

function isPython(runtime: Optimization["runtime"]): boolean {
  return runtime !== null && runtime.type !== "remote" && runtime.language === "python";
}
