import { context, propagation, type Span, trace } from "@opentelemetry/api";

/**
 * What clients sent is not exported: addresses (their paths and queries can hold anything) and the messages of errors, which quote it.
 * A request's span has its route instead.
 */
const HIDDEN: ReadonlySet<string> = new Set(["url.path", "url.query", "exception.message", "exception.stacktrace"]);

/**
 * Keeps addresses and messages out of every span from now on; call it once, before anything is served.
 *
 * The runtime writes each request's whole URL into the span it begins and has no setting against that, and what is written cannot be
 * taken back: so the method that writes is replaced, on the one class that all its spans are of.
 */
export function hideWhatClientsSent(): void {
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

/** Where the runtime traces, tells a request's span, and by it the metrics of requests, what it is about. */
export function describeRequest(request: {
  readonly method: string;
  /** The pattern; undefined where none fits. */
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

/** Goes on without a client's `baggage`, which the runtime would hand on to whomever this service calls. */
export function dropBaggage<T>(run: () => T): T {
  return context.with(propagation.deleteBaggage(context.active()), run);
}

/** The ids under which a trace holds what is being done now; nothing where nothing is traced. */
export function activeTrace(): { readonly trace_id?: string; readonly span_id?: string } {
  const active = trace.getActiveSpan()?.spanContext();
  return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
}
