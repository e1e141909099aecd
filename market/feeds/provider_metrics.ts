import { metrics } from "@opentelemetry/api";

function makeInstruments() {
  const meter = metrics.getMeter("hindcast");
  return {
    requests: meter.createCounter("hindcast.provider.requests", {
      description: "Calls of providers by outcome; held_back ones were not made because the limit was used up.",
      unit: "{request}",
    }),
    waits: meter.createCounter("hindcast.provider.wait.time", {
      description: "How long ingestion has waited for providers' limits.",
      unit: "s",
    }),
  };
}

/** Made when first used: an instrument reports to the provider that is set when it is made. */
let made: ReturnType<typeof makeInstruments> | undefined;
const instruments = () => made ??= makeInstruments();

/** Counts a call of a provider, or one that its limit held back. */
export function countRequest(provider: string, outcome: string): void {
  instruments().requests.add(1, { "hindcast.provider": provider, "hindcast.outcome": outcome });
}

/** Adds the time for which ingestion waits for a provider's limit. */
export function countWait(provider: string, seconds: number): void {
  instruments().waits.add(seconds, { "hindcast.provider": provider });
}
