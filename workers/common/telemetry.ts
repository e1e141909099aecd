import {
  type Attributes,
  type Context,
  context,
  metrics,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { z } from "zod";
import type { FailureCode, Outcome } from "./outcome.ts";

// It does nothing without OTEL_DENO=true.
const tracer = trace.getTracer("hindcast");

function makeInstruments() {
  const meter = metrics.getMeter("hindcast");
  return {
    runDuration: meter.createHistogram("hindcast.backtest.duration", {
      description: "Time from a worker's claim of a backtest to its stored outcome.",
      unit: "s",
      advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600] },
    }),
    sandboxKills: meter.createCounter("hindcast.sandbox.kills", {
      description: "Sandboxes that were ended before they answered.",
      unit: "{kill}",
    }),
  };
}

/** Made when first used: an instrument reports to the provider that is set when it is made. */
let made: ReturnType<typeof makeInstruments> | undefined;
const instruments = () => made ??= makeInstruments();

/** The trace in which a job was sent, in the job's data: W3C Trace Context, version 00. */
const carriedSchema = z.object({ traceparent: z.string().regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/) });
type Carried = Partial<z.infer<typeof carriedSchema>>;

/**
 * Sends a job within a span of its own.
 *
 * @param send Receives the data that the job must carry for traceJob(); empty if nothing is traced.
 */
export async function traceSend<T>(queue: string, jobId: string, send: (carried: Carried) => Promise<T>): Promise<T> {
  const options = { kind: SpanKind.PRODUCER, attributes: messagingAttributes("send", queue, jobId) };
  return await tracer.startActiveSpan(`send ${queue}`, options, (span) => within(span, () => send(carry())));
}

/**
 * Does a job within a span of the trace in which it was sent, after a span of the query that took it.
 *
 * @param askedAt When that query was sent, as currentMs() gives it.
 */
export async function traceJob<T>(
  queue: string,
  job: { readonly id: string; readonly retryCount: number; readonly data: unknown },
  askedAt: number,
  handle: () => Promise<T>,
): Promise<T> {
  const sentIn = readCarried(job.data);
  const received = { kind: SpanKind.CLIENT, attributes: messagingAttributes("receive", queue, job.id) };
  tracer.startSpan(`receive ${queue}`, { ...received, startTime: askedAt }, sentIn).end();
  const attributes = { ...messagingAttributes("process", queue, job.id), "hindcast.job.retries": job.retryCount };
  const options = { kind: SpanKind.CONSUMER, attributes };
  return await tracer.startActiveSpan(`process ${queue}`, options, sentIn, (span) => within(span, handle));
}

/** The clock of spans: milliseconds since 1970, with fractions. */
export function currentMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Does a part of a request or of a job within a span of its own. */
export async function traceStep<T>(name: string, step: () => Promise<T>, attributes: Attributes = {}): Promise<T> {
  return await tracer.startActiveSpan(name, { attributes }, (span) => within(span, step));
}

/** Records a span for a part of the current step that another thread has done, by that thread's clock. */
export function recordStep(name: string, begun: number, ended: number): void {
  tracer.startSpan(name, { startTime: begun }).end(ended);
}

async function within<T>(span: Span, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    span.setAttribute("error.type", error instanceof Error ? error.name : typeof error);
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

function messagingAttributes(operation: "send" | "receive" | "process", queue: string, jobId: string): Attributes {
  return {
    "messaging.system": "pg-boss",
    "messaging.operation.name": operation,
    "messaging.operation.type": operation,
    "messaging.destination.name": queue,
    "messaging.message.id": jobId,
  };
}

// `tracestate` and `baggage` are not carried: a client can write anything into them.
function carry(): Carried {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carriedSchema.safeParse(carrier).data ?? {};
}

function readCarried(data: unknown): Context {
  return propagation.extract(ROOT_CONTEXT, carriedSchema.safeParse(data).data ?? {});
}

/** An attempt at a backtest. */
interface RunMeasure {
  readonly durationSeconds: number;
  readonly outcome: Outcome<object>["type"];
  readonly strategyKind: "builtin" | "wasm" | "script" | "remote";
  readonly errorCode: FailureCode | undefined;
}

/** Records an attempt in the metrics and on the span of its job. */
export function measureRun({ durationSeconds, outcome, strategyKind, errorCode }: RunMeasure): void {
  const attributes = {
    "hindcast.outcome": outcome,
    "hindcast.strategy.kind": strategyKind,
    ...(errorCode === undefined ? {} : { "error.type": errorCode }),
  };
  instruments().runDuration.record(durationSeconds, attributes);
  trace.getActiveSpan()?.setAttributes(attributes);
}

/** Counts a sandbox process or warm worker that was ended from outside. */
export function countKill(reason: "deadline" | "memory" | "stopped" | "unresponsive"): void {
  instruments().sandboxKills.add(1, { "hindcast.reason": reason });
}

// The export of all metrics waits for the query.
const QUERY_MS_MAX = 1000;

/** The unfinished backtests of all users. */
interface QueueLevel {
  readonly queued: number;
  readonly running: number;
  /** Age of the oldest queued one; 0 if none waits. */
  readonly oldestSeconds: number;
}

/**
 * Measures the queue whenever the runtime exports metrics, and at no other time.
 *
 * @param measure Queries the database.
 * @returns A function that stops it, after a query that is under way.
 */
export function observeQueue(measure: () => Promise<QueueLevel>): () => Promise<void> {
  const meter = metrics.getMeter("hindcast");
  const depth = meter.createObservableGauge("hindcast.queue.depth", {
    description: "Unfinished backtests in the database, by status; every process on one database reports the same.",
    unit: "{backtest}",
  });
  const age = meter.createObservableGauge("hindcast.queue.age", {
    description: "Age of the oldest queued backtest.",
    unit: "s",
  });
  let measuring: Promise<unknown> = Promise.resolve();
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = async (result) => {
    const measured = measure().catch(() => undefined);
    measuring = measured;
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), QUERY_MS_MAX);
    const level = await Promise.race([measured, late.promise]);
    clearTimeout(timer);
    // The database does not answer; health and log report that.
    if (level === undefined) return;
    result.observe(depth, level.queued, { "hindcast.status": "queued" });
    result.observe(depth, level.running, { "hindcast.status": "running" });
    result.observe(age, level.oldestSeconds);
  };
  meter.addBatchObservableCallback(observe, [depth, age]);
  return async () => {
    meter.removeBatchObservableCallback(observe, [depth, age]);
    await measuring;
  };
}
