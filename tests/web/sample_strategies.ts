import type { TestClient } from "../support/client.ts";

const LONG_NAME = "A strategy with a name as long as names may be, to see that every page still holds together nicely";

/** A script without a mistake. */
export const SCRIPT = `strategy(({ period = 20 }: { period?: number }) => ({
  warmup: period + 1,
  prepare({ close }) {
    this.mean = sma(close, period);
  },
  decide(i, { close }, account, orders) {
    if (account.quantity === 0 && close[i] > this.mean[i]) orders.buy();
    else if (account.quantity > 0 && close[i] < this.mean[i]) orders.close();
  },
}));
`;

/** A WebAssembly module without a mistake. */
export function readModule(): Promise<Uint8Array<ArrayBuffer>> {
  return Deno.readFile(new URL(import.meta.resolve("../../strategies/examples/rust/sma_cross.wasm")));
}

/** Registers a strategy that shows a form at its worst: forty parameters, long names and long words. @returns Its slug. */
export async function makeLongStrategy(client: TestClient): Promise<string> {
  const properties = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      i === 3 ? "aParameterWhoseNameIsLongerThanAnybodyWouldLikeToReadOrType" : `parameter${i}`,
      i % 5 === 0
        ? { type: "boolean", default: true, description: "Whether to wait for the close of the candle" }
        : { type: "number", default: i / 10, minimum: 0, maximum: 100, description: "A weight in the sum of signals" },
    ]),
  );
  return await makeStrategy(client, {
    name: LONG_NAME,
    description: `${"Buys what falls and sells what rises, in steps. ".repeat(12)}${"x".repeat(120)}`,
    parameter_schema: { type: "object", properties },
  });
}

/** Registers a script. @returns Its slug. */
export function makeScript(client: TestClient, change: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return makeStrategy(client, {
    name: "My Average",
    runtime_type: "script",
    language: "typescript",
    initial_version: { version: "1.0.0", runtime_config: { type: "script", source: SCRIPT } },
    ...change,
  });
}

/** Registers a remote strategy, private unless said otherwise. @returns Its slug. */
export async function makeStrategy(client: TestClient, change: Readonly<Record<string, unknown>>): Promise<string> {
  const slug = `s-${crypto.randomUUID()}`;
  const answer = await client.send("POST", "/api/strategies", {
    strategy: {
      slug,
      name: "Remote One",
      runtime_type: "remote",
      language: "python",
      default_frequency: "HOURLY",
      initial_version: { version: "1.0.0", runtime_config: { type: "remote", endpoint: "https://example.com/run" } },
      ...change,
    },
  });
  if (answer.status !== 201) throw new Error(`Cannot register a sample strategy: ${answer.text}`);
  return slug;
}
