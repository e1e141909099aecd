/**
 * SMA cross as a remote strategy, in TypeScript for Deno and with nothing beside it:
 *
 *     deno run --allow-net=127.0.0.1 sma_cross.ts --port=9000
 *
 * Buys where the fast simple moving average of closes crosses above the slow one; sells, or goes short, where it crosses
 * below. Parameters, all optional: fast (10), slow (30), direction ("both" or "long"), takeProfitLevel and stopLossLevel
 * (fractions of the entry price; 0 is none). lookbackCandles must be at least `slow`.
 */

const PROTOCOL_VERSION = 1;

interface DecisionRequest {
  readonly version: number;
  readonly asked: number;
  readonly parameters: Parameters;
  readonly candles: { readonly close: readonly number[] };
}

interface Parameters {
  readonly fast?: number;
  readonly slow?: number;
  readonly direction?: "both" | "long";
  readonly takeProfitLevel?: number;
  readonly stopLossLevel?: number;
}

type Action =
  | {
    readonly side: "buy" | "sell";
    readonly when: "not_long" | "not_short";
    readonly take_profit_fraction?: number;
    readonly stop_loss_fraction?: number;
  }
  | { readonly action: "close"; readonly when: "long" };

/** The actions of each asked candle. */
function decide({ asked, parameters, candles: { close } }: DecisionRequest): Action[][] {
  const fast = movingAverage(close, parameters.fast ?? 10);
  const slow = movingAverage(close, parameters.slow ?? 30);
  const guards = {
    ...(parameters.takeProfitLevel ? { take_profit_fraction: parameters.takeProfitLevel } : {}),
    ...(parameters.stopLossLevel ? { stop_loss_fraction: parameters.stopLossLevel } : {}),
  };
  const onRise: Action[] = [{ side: "buy", when: "not_long", ...guards }];
  const onFall: Action[] = parameters.direction === "long"
    ? [{ action: "close", when: "long" }]
    : [{ side: "sell", when: "not_short", ...guards }];
  return Array.from({ length: asked }, (_, n) => {
    const i = close.length - asked + n;
    if (crossesAbove(fast, slow, i)) return onRise;
    return crossesAbove(slow, fast, i) ? onFall : [];
  });
}

/** Whether `a` was below `b` one candle before place `i` and is above it there. NaN crosses nothing. */
function crossesAbove(a: Float64Array, b: Float64Array, i: number): boolean {
  return i > 0 && a[i - 1]! < b[i - 1]! && a[i]! > b[i]!;
}

/**
 * Mean of the last `period` values at each place, NaN where there are too few.
 *
 * Averages are compared, so a rounding error would invent a cross where prices stand still. Each sum is therefore kept as
 * a pair of doubles, what it is and what rounding took from it (D. E. Knuth's two-sum), and the quotient is corrected by
 * what its own rounding left over.
 */
function movingAverage(values: readonly number[], period: number): Float64Array {
  const means = new Float64Array(values.length).fill(NaN);
  for (let i = period - 1; i < values.length; i++) {
    let sum = 0;
    let lost = 0;
    for (let k = i - period + 1; k <= i; k++) {
      const value = values[k]!;
      const next = sum + value;
      const part = next - sum;
      lost += (sum - (next - part)) + (value - part);
      sum = next;
    }
    const mean = sum / period;
    // The upper half of the mean's digits times a short whole number is exact, and so is the rest.
    const scaled = mean * 134217729;
    const upper = scaled - (scaled - mean);
    means[i] = mean + ((sum - upper * period) - (mean - upper) * period + lost) / period;
  }
  return means;
}

async function answer(http: Request): Promise<Response> {
  // Says that requests may be packed.
  const headers = { "accept-encoding": "gzip" };
  try {
    const isPacked = http.headers.get("content-encoding") === "gzip";
    const body = isPacked ? http.body!.pipeThrough(new DecompressionStream("gzip")) : http.body;
    const request: DecisionRequest = await new Response(body).json();
    if (request.version !== PROTOCOL_VERSION) throw new RangeError(`Cannot speak protocol version ${request.version}`);
    return Response.json({ version: PROTOCOL_VERSION, decisions: decide(request) }, { headers });
  } catch (error) {
    return Response.json({ error: String(error) }, { status: 400, headers });
  }
}

if (import.meta.main) {
  const port = Deno.args.map((argument) => /^--port=(\d+)$/.exec(argument)?.[1]).find((found) => found !== undefined);
  const onListen = ({ port }: Deno.NetAddr) =>
    void Deno.stdout.write(new TextEncoder().encode(`http://127.0.0.1:${port}/\n`));
  Deno.serve({ hostname: "127.0.0.1", port: Number(port ?? 9000), onListen }, answer);
}
