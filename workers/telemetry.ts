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

// Without OTEL_DENO=true all of these do nothing.
const tracer = trace.getTracer("hindcast");
const meter = metrics.getMeter("hindcast");

const runDuration = meter.createHistogram("hindcast.backtest.duration", {
  description: "From a backtest's claim by a worker to its stored end.",
  unit: "s",
  advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600] },
});
const sandboxKills = meter.createCounter("hindcast.sandbox.kills", {
  description: "Sandboxes that were ended before they had answered.",
  unit: "{kill}",
});

/** What a job carries of the trace in which it was sent: W3C Trace Context, version 00. */
const carriedSchema = z.object({ traceparent: z.string().regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/) });
type Carried = Partial<z.infer<typeof carriedSchema>>;

/**
 * Sends a job within a span of its own.
 *
 * @param send Gets what the job has to carry for traceJob(); nothing where nothing is traced.
 */
export async function traceSend<T>(queue: string, jobId: string, send: (carried: Carried) => Promise<T>): Promise<T> {
  const options = { kind: SpanKind.PRODUCER, attributes: messagingAttributes("send", queue, jobId) };
  return await tracer.startActiveSpan(`send ${queue}`, options, (span) => within(span, () => send(carry())));
}

/** Does a job within a span that belongs to the trace in which the job was sent. */
export async function traceJob<T>(
  queue: string,
  job: { readonly id: string; readonly retryCount: number; readonly data: unknown },
  handle: () => Promise<T>,
): Promise<T> {
  const attributes = { ...messagingAttributes("process", queue, job.id), "hindcast.job.retries": job.retryCount };
  const options = { kind: SpanKind.CONSUMER, attributes };
  return await tracer.startActiveSpan(
    `process ${queue}`,
    options,
    readCarried(job.data),
    (span) => within(span, handle),
  );
}

/** Does a part of a job within a span of its own. */
export async function traceStep<T>(name: string, step: () => Promise<T>, attributes: Attributes = {}): Promise<T> {
  return await tracer.startActiveSpan(name, { attributes }, (span) => within(span, step));
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

function messagingAttributes(operation: "send" | "process", queue: string, jobId: string): Attributes {
  return {
    "messaging.system": "pg-boss",
    "messaging.operation.name": operation,
    "messaging.operation.type": operation,
    "messaging.destination.name": queue,
    "messaging.message.id": jobId,
  };
}

// Nothing else that came with a request is kept: its `tracestate` and `baggage` are the client's own words.
function carry(): Carried {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carriedSchema.safeParse(carrier).data ?? {};
}

function readCarried(data: unknown): Context {
  return propagation.extract(ROOT_CONTEXT, carriedSchema.safeParse(data).data ?? {});
}

/** How an attempt at a backtest ended. */
export interface RunMeasure {
  readonly durationSeconds: number;
  readonly outcome: string;
  /** What decides in it. */
  readonly strategyKind: "builtin" | "wasm" | "remote";
  /** Our code of a failure. */
  readonly errorCode: string | undefined;
}

/** Counts and times an attempt, in the metrics and on the span of its job. */
export function measureRun({ durationSeconds, outcome, strategyKind, errorCode }: RunMeasure): void {
  const attributes = {
    "hindcast.outcome": outcome,
    "hindcast.strategy.kind": strategyKind,
    ...(errorCode === undefined ? {} : { "error.type": errorCode }),
  };
  runDuration.record(durationSeconds, attributes);
  trace.getActiveSpan()?.setAttributes(attributes);
}

/** Counts a sandbox, process or worker, that was ended from outside. */
export function countKill(reason: "deadline" | "memory" | "stopped" | "unresponsive"): void {
  sandboxKills.add(1, { "hindcast.reason": reason });
}

// Nothing is exported meanwhile.
const LOOK_MS_MAX = 1000;

/** Backtests that have not ended, of all users. */
export interface QueueLevel {
  readonly queued: number;
  readonly running: number;
  /** Age of the queued one that was submitted first; 0 where none waits. */
  readonly oldestSeconds: number;
}

/**
 * Lets the runtime ask for the queue's level whenever it exports metrics, and at no other time.
 *
 * @returns What ends it, after a look that is under way.
 */
export function observeQueue(look: () => Promise<QueueLevel>): () => Promise<void> {
  const depth = meter.createObservableGauge("hindcast.queue.depth", {
    description: "Backtests in the database, by status: the same in each process on one database.",
    unit: "{backtest}",
  });
  const age = meter.createObservableGauge("hindcast.queue.age", {
    description: "How long the backtest that was submitted first of those that wait has waited.",
    unit: "s",
  });
  let looking: Promise<unknown> = Promise.resolve();
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = async (result) => {
    const looked = look().catch(() => undefined);
    looking = looked;
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), LOOK_MS_MAX);
    const level = await Promise.race([looked, late.promise]);
    clearTimeout(timer);
    // A database that does not answer has no level; that it does not is told by the health and the log.
    if (level === undefined) return;
    result.observe(depth, level.queued, { "hindcast.status": "queued" });
    result.observe(depth, level.running, { "hindcast.status": "running" });
    result.observe(age, level.oldestSeconds);
  };
  meter.addBatchObservableCallback(observe, [depth, age]);
  return async () => {
    meter.removeBatchObservableCallback(observe, [depth, age]);
    await looking;
  };
}
