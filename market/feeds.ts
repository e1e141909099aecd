import type { Instrument } from "../db/instruments.ts";
import type { Candles } from "../engine/candles.ts";
import { SAMPLE_FEED } from "./feeds/sample.ts";
import type { Timeframe } from "./timeframes.ts";

/** Candles of one instrument that a feed is asked for. */
export interface FeedRequest {
  readonly instrument: Pick<Instrument, "symbol" | "exchange" | "assetClass">;
  readonly timeframe: Timeframe;
  /** Candles that open in [start, end), milliseconds since 1970, both on boundaries of the timeframe. */
  readonly start: number;
  readonly end: number;
  /** Stops the feed: it throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** An answered part of a request. Where [start, end) holds no candle, there was no trade. */
export interface FeedPart {
  readonly start: number;
  readonly end: number;
  /** Strictly increasing times inside [start, end). */
  readonly candles: Candles;
}

/** Where candles come from. */
export interface Feed {
  /**
   * Gives the request's range from its start to its end in parts without holes between them. The last may end earlier where the feed has
   * nothing more yet.
   */
  fetch(request: FeedRequest): AsyncIterable<FeedPart>;
}

/** Which feed serves an instrument. */
export type Feeds = (instrument: Pick<Instrument, "provider" | "assetClass">) => Feed | undefined;

/** The feeds that need no configuration. */
export const BUILTIN_FEEDS: Feeds = ({ provider }) => provider === "sample" ? SAMPLE_FEED : undefined;
