import type { Collector, Received } from "../tests/support/collector.ts";

/** The stages of a backtest in milliseconds, in their order; the last is not part of the total. */
export const STAGES = [
  "validate",
  "submit",
  "wake",
  "take",
  "claim",
  "load candles",
  "run",
  "check integrity",
  "encode",
  "to the worker and back",
  "store",
  "notify",
  "total",
  "read back",
] as const;

export type Stages = Readonly<Record<(typeof STAGES)[number], number>>;

/** The header with which a request joins a trace. @param trace Its id, 32 hexadecimal digits. */
export function traceparentOf(trace: string): string {
  return `00-${trace}-${"1".padStart(16, "0")}-01`;
}

/**
 * Reads the stages of a run from its spans, once all have arrived.
 *
 * @param asClient What the client measured: from submission to result, and a plain request for the record.
 */
export async function readStages(
  collector: Collector,
  trace: string,
  asClient: { readonly total: number; readonly readBack: number },
): Promise<Stages> {
  const spans = await collector.until(() => {
    const found = new Map(
      collector.spans.filter(({ traceId }) => traceId === trace).map((span) => [span.name, span]),
    );
    return found.has("process backtests") && found.has("GET /api/backtests/:id") ? found : undefined;
  });
  const span = (name: string): Received => {
    const found = spans.get(name);
    if (found === undefined) throw new Error(`Cannot read the stages: the trace has no span ${name}`);
    return found;
  };
  const lengthOf = (name: string) => span(name).endMs - span(name).startMs;
  const request = span("POST /api/backtests");
  const submitted = span("submit");
  const answered = span("GET /api/backtests/:id").endMs - span("store").endMs;
  return {
    "validate": submitted.startMs - request.startMs,
    "submit": lengthOf("submit"),
    "wake": span("receive backtests").startMs - submitted.endMs,
    "take": lengthOf("receive backtests"),
    "claim": lengthOf("claim"),
    "load candles": lengthOf("load candles"),
    "run": lengthOf("run"),
    "check integrity": lengthOf("check integrity"),
    "to the worker and back": lengthOf("simulate") - lengthOf("run") - lengthOf("check integrity") - lengthOf("encode"),
    "encode": lengthOf("encode"),
    "store": lengthOf("store"),
    "notify": answered - asClient.readBack,
    "total": asClient.total,
    "read back": asClient.readBack,
  };
}
