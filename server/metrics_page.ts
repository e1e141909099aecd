import { type Attributes, type Meter, metrics } from "@opentelemetry/api";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import process from "node:process";
import { ConfigError, unusable } from "./config.ts";

const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const HEADERS = { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" };

export interface AnsweredRequest {
  readonly method: string;
  /** The route's pattern; undefined where no route matches. */
  readonly route: string | undefined;
  readonly status: number;
  readonly seconds: number;
}

export interface MetricsPage {
  measureRequest(request: AnsweredRequest): void;
  close(): Promise<void>;
}

/**
 * Serves this process's metrics as Prometheus reads them, at /metrics of an address of its own. Instruments that are made from now on
 * report here.
 *
 * @param address `host:port`.
 * @param version The service's version, for `target_info`.
 * @throws ConfigError when it cannot listen there, or the runtime itself exports metrics.
 */
export function openMetricsPage(address: { hostname: string; port: number }, version: string): MetricsPage {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const resource = resourceFromAttributes({ "service.name": "hindcast", "service.version": version });
  const provider = new MeterProvider({ resource, readers: [reader] });
  if (!metrics.setGlobalMeterProvider(provider)) {
    throw new ConfigError("Cannot start: metrics go to one place: unset METRICS_ADDRESS or OTEL_DENO");
  }
  const serializer = new PrometheusSerializer("", false);
  // Scrapers that ask at once share a collection, and with it the query of the queue.
  let collecting: Promise<string> | undefined;
  const collect = () =>
    collecting ??= reader.collect()
      .then(({ resourceMetrics }) => serializer.serialize(resourceMetrics))
      .finally(() => collecting = undefined);
  const server = listen(address, async (request) => {
    if (new URL(request.url).pathname !== "/metrics") {
      return new Response("Metrics are at /metrics.\n", { status: 404 });
    }
    if (request.method !== "GET") return new Response(null, { status: 405, headers: { allow: "GET" } });
    return new Response(await collect(), { headers: HEADERS });
  });
  const meter = provider.getMeter("hindcast");
  observeProcess(meter);
  const requests = meter.createHistogram("http.server.request.duration", {
    description: "Time from a request to its answer, without the sending of a long one.",
    unit: "s",
    advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] },
  });
  return {
    measureRequest: ({ method, route, status, seconds }) => {
      // Clients may make up methods, and each would be a series for good.
      const known = METHODS.includes(method) ? method : "_OTHER";
      const attributes: Attributes = { "http.request.method": known, "http.response.status_code": status };
      requests.record(seconds, route === undefined ? attributes : { ...attributes, "http.route": route });
    },
    close: async () => {
      await server.shutdown();
      metrics.disable();
      await provider.shutdown();
    },
  };
}

function listen(
  { hostname, port }: { hostname: string; port: number },
  answer: (request: Request) => Promise<Response>,
): Deno.HttpServer {
  try {
    return Deno.serve({ hostname, port, onListen: () => {} }, answer);
  } catch (error) {
    throw unusable("METRICS_ADDRESS", error);
  }
}

function observeProcess(meter: Meter): void {
  meter.createObservableCounter("process.cpu.time", { description: "Processor time of this process.", unit: "s" })
    .addCallback((result) => {
      const { user, system } = process.cpuUsage();
      result.observe(user / 1e6, { "cpu.mode": "user" });
      result.observe(system / 1e6, { "cpu.mode": "system" });
    });
  meter.createObservableGauge("process.memory.usage", { description: "Memory that this process holds.", unit: "By" })
    .addCallback((result) => result.observe(Deno.memoryUsage().rss));
}
