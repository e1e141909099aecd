import { z } from "zod";
import type { Candles } from "../engine/candles.ts";
import { fixedMs, isTimeframe, type Timeframe, TIMEFRAME_NAMES } from "../market/timeframes.ts";

/** Candles to ask a service for. */
interface CandleRequest {
  /** The service's origin, such as `http://127.0.0.1:8000`. */
  readonly service: string;
  readonly symbol: string;
  readonly exchange: string | undefined;
  /** First day, and the day after the last: `2024-01-01`. */
  readonly from: string;
  readonly to: string;
  readonly timeframe: string;
}

export interface ServiceCandles {
  readonly candles: Candles;
  readonly timeframe: Timeframe;
  /** Null for calendar months. */
  readonly timeframeMs: number | null;
  readonly assetClass: "forex" | "crypto" | "stock";
  /** Empty where the request names none. */
  readonly exchange: string;
}

const answerSchema = z.object({
  assetClass: z.enum(["forex", "crypto", "stock"]),
  ticks: z.array(
    z.object({
      timestamp: z.iso.datetime(),
      open: z.number(),
      high: z.number(),
      low: z.number(),
      close: z.number(),
      volume: z.number(),
    }),
  ),
});
const refusalSchema = z.object({ error: z.object({ message: z.string() }) });

/** Gets candles of a service's public market data. @throws Error When there are none, with the service's reason. */
export async function fetchCandles(request: CandleRequest): Promise<ServiceCandles> {
  const { service, symbol, from, to, timeframe } = request;
  if (!isTimeframe(timeframe)) {
    throw new RangeError(`Cannot use the timeframe ${timeframe}: it must be one of ${TIMEFRAME_NAMES.join(", ")}`);
  }
  const query = {
    symbol,
    startDate: from,
    endDate: to,
    timeframe,
    ...(request.exchange === undefined ? {} : { exchange: request.exchange }),
  };
  const failed = (reason: string) => new Error(`Cannot get candles of ${symbol} from ${service}: ${reason}`);
  const url = URL.parse(`/api/market-data/ticks?${new URLSearchParams(query)}`, service);
  if (url === null) throw failed("it is no address such as http://127.0.0.1:8000");
  const answer = await fetch(url, { headers: { accept: "application/json" } }).catch((error) => {
    throw failed(error instanceof Error ? error.message : String(error));
  });
  const body: unknown = await answer.json().catch(() => null);
  if (!answer.ok) {
    throw failed(refusalSchema.safeParse(body).data?.error.message ?? `it answered HTTP ${answer.status}`);
  }
  const parsed = answerSchema.safeParse(body);
  if (!parsed.success) throw failed("its answer has no candles");
  const { ticks, assetClass } = parsed.data;
  if (ticks.length === 0) throw failed(`none from ${from} to ${to}`);
  const column = (name: "open" | "high" | "low" | "close" | "volume") => Float64Array.from(ticks, (tick) => tick[name]);
  return {
    candles: {
      time: Float64Array.from(ticks, ({ timestamp }) => Date.parse(timestamp)),
      open: column("open"),
      high: column("high"),
      low: column("low"),
      close: column("close"),
      volume: column("volume"),
    },
    timeframe,
    timeframeMs: fixedMs(timeframe),
    assetClass,
    exchange: request.exchange ?? "",
  };
}
