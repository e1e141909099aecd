import { z } from "zod";

// OTLP in JSON, as much of it as is looked at: https://opentelemetry.io/docs/specs/otlp/
const attributesSchema = z.array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, String(Object.values(value)[0])])));
const resourceSchema = z.object({ attributes: attributesSchema });
const spanShape = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string(),
  name: z.string(),
  kind: z.number(),
  attributes: attributesSchema,
  status: z.object({ code: z.number() }),
  startTimeUnixNano: z.coerce.number(),
  endTimeUnixNano: z.coerce.number(),
});
/** Milliseconds since 1970, with fractions. */
const spanSchema = spanShape.transform(({ startTimeUnixNano: start, endTimeUnixNano: end, ...span }) => ({
  ...span,
  startMs: start / 1e6,
  endMs: end / 1e6,
}));
const pointSchema = z.object({
  attributes: attributesSchema,
  asInt: z.coerce.number().optional(),
  asDouble: z.number().optional(),
  count: z.coerce.number().optional(),
  sum: z.number().optional(),
});
const pointsSchema = z.object({ dataPoints: z.array(pointSchema) }).optional();
const exportSchema = z.object({
  resourceSpans: z.array(z.object({
    resource: resourceSchema,
    scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
  })).default([]),
  resourceMetrics: z.array(z.object({
    resource: resourceSchema,
    scopeMetrics: z.array(z.object({
      metrics: z.array(
        z.object({ name: z.string(), histogram: pointsSchema, sum: pointsSchema, gauge: pointsSchema }),
      ),
    })),
  })).default([]),
});

/** A span that has arrived, and the process it is from. */
export type Received = z.infer<typeof spanSchema> & { readonly service: string };

/** A receiver of traces and metrics on a local socket, as an operator's collector is. */
export class Collector {
  readonly spans: Received[] = [];
  /** Each byte that has arrived. */
  text = "";
  readonly #values = new Map<string, number>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  #arrived = Promise.withResolvers<void>();
  #silence: Promise<void> | undefined;

  constructor() {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      // A process leaves half of an export when it ends, or gives up on a busy machine.
      const text = await request.text().catch(() => null);
      if (text === null) return new Response(null, { status: 400 });
      this.text += JSON.stringify([...request.headers]) + text;
      this.#take(exportSchema.parse(JSON.parse(text)));
      await this.#silence;
      this.#arrived.resolve();
      this.#arrived = Promise.withResolvers();
      return Response.json({});
    });
  }

  /** The environment with which a process of this name exports to here, a few times a second. */
  environment(service: string): Record<string, string> {
    return {
      OTEL_DENO: "true",
      OTEL_SERVICE_NAME: service,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${this.#server.addr.port}`,
      OTEL_METRIC_EXPORT_INTERVAL: "200",
      OTEL_BSP_SCHEDULE_DELAY: "100",
    };
  }

  /** The last value of a metric (of a histogram, how many were counted) under exactly these attributes. */
  value(service: string, name: string, attributes: Readonly<Record<string, string>> = {}): number | undefined {
    return this.#values.get(keyOf(service, name, attributes));
  }

  /** Waits until what has arrived answers the question, at most two minutes. */
  async until<T>(question: () => T | undefined): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`This did not arrive: ${question}`)), 120_000);
    try {
      for (;;) {
        const answer = question();
        if (answer !== undefined) return answer;
        await Promise.race([this.#arrived.promise, late.promise]);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Takes what is sent and answers nothing any more, until what is returned is called. */
  fallSilent(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#silence = promise;
    return resolve;
  }

  async close(): Promise<void> {
    await this.#server.shutdown();
  }

  #take({ resourceSpans, resourceMetrics }: z.infer<typeof exportSchema>): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = resource.attributes["service.name"] ?? "";
      this.spans.push(...scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service }))));
    }
    for (const { resource, scopeMetrics } of resourceMetrics) {
      const service = resource.attributes["service.name"] ?? "";
      for (const { name, histogram, sum, gauge } of scopeMetrics.flatMap(({ metrics }) => metrics)) {
        for (const point of (histogram ?? sum ?? gauge)?.dataPoints ?? []) {
          const value = point.count ?? point.asInt ?? point.asDouble ?? NaN;
          this.#values.set(keyOf(service, name, point.attributes), value);
        }
      }
    }
  }
}

function keyOf(service: string, name: string, attributes: Readonly<Record<string, string>>): string {
  return JSON.stringify([service, name, Object.entries(attributes).sort()]);
}
