import { context, propagation, type Span, trace } from "@opentelemetry/api";

// URLs and error messages can hold anything that a client sent.
const HIDDEN: ReadonlySet<string> = new Set(["url.path", "url.query", "exception.message", "exception.stacktrace"]);

/**
 * Keeps URLs and error messages out of every span from now on: they are not exported. Call it once, before anything is served.
 *
 * The runtime writes each request's URL into the span that it starts, and has no setting against it. So this replaces the methods
 * that write, on the class of the runtime's spans.
 */
export function redactSpans(): void {
  const spans: Span = Object.getPrototypeOf(trace.getTracer("hindcast").startSpan("never ended, never exported"));
  const { setAttribute, setStatus } = spans;
  spans.setAttribute = function (this: Span, key, value) {
    if (key === "url.full") {
      const host = URL.parse(String(value))?.hostname ?? "";
      return host === "" ? this : setAttribute.call(this, "server.address", host);
    }
    return HIDDEN.has(key) ? this : setAttribute.call(this, key, value);
  };
  spans.setStatus = function (this: Span, { code }) {
    return setStatus.call(this, { code });
  };
  spans.recordException = function (this: Span, exception) {
    this.addEvent("exception", { "exception.type": exception instanceof Error ? exception.name : typeof exception });
  };
}

/** Names the span of the current request, and with it the request's metrics, after its route. */
export function describeRequest(request: {
  readonly method: string;
  /** The route's pattern; undefined where no route matches. */
  readonly route: string | undefined;
  readonly requestId: string;
}): void {
  const span = trace.getActiveSpan();
  if (span === undefined) return;
  span.setAttribute("hindcast.request.id", request.requestId);
  if (request.route === undefined) return;
  span.updateName(`${request.method} ${request.route}`);
  span.setAttribute("http.route", request.route);
}

/** Runs without the client's `baggage`, which the runtime would pass on to every host that this service calls. */
export function dropBaggage<T>(run: () => T): T {
  return context.with(propagation.deleteBaggage(context.active()), run);
}

/** The ids of the active trace and span, for the log; empty where nothing is traced. */
export function activeTrace(): { readonly trace_id?: string; readonly span_id?: string } {
  const active = trace.getActiveSpan()?.spanContext();
  return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
}
