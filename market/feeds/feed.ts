import type { AssetClass, Instrument, Provider } from "../../db/instruments.ts";
import type { Candles } from "../../engine/candles.ts";
import type { Timeframe } from "../timeframes.ts";

/** Candles of one instrument that a feed is asked for. */
export interface FeedRequest {
  readonly instrument: Pick<Instrument, "symbol" | "exchange" | "assetClass">;
  /** One of those that `sourceTimeframe` gives. */
  readonly timeframe: Timeframe;
  /** Candles that open in [start, end), milliseconds since 1970, both on boundaries of the timeframe, and closed. */
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
  /** How many rows of the answer were no candles (see candle_rules.ts) and were left out. */
  readonly rejected?: number;
}

/** Where candles come from. */
export interface Feed {
  readonly name: string;
  /** The exchange under which its instruments are kept. */
  readonly exchange: string;
  /** How long after a candle's close it is sure to be there: what is younger and missing is asked for again. */
  readonly settleMs: number;
  /** What to fetch for candles of a timeframe: the same, or a finer one of which they are made. */
  sourceTimeframe(timeframe: Timeframe): Timeframe;
  /**
   * Gives the request's range from its start to its end in parts without holes between them. The last may end earlier where the feed has
   * nothing more yet.
   *
   * @throws {FeedError}
   */
  fetch(request: FeedRequest): AsyncIterable<FeedPart>;
}

/** Why a feed did not answer. */
export type FeedFault =
  /** Asked too often; again after `retryAfterSeconds`. */
  | "rate_limited"
  /** Did not answer, or with an error of its own: may work in a moment. */
  | "failed"
  /** Refuses the request, the key or the answer's format: will not work in a moment either. */
  | "refused"
  /** Does not know the symbol. */
  | "unknown_symbol"
  /** Cannot be asked as this service is set up. */
  | "not_configured";

/** A feed that did not answer; the message names it and says what it said. */
export class FeedError extends Error {
  override readonly name = "FeedError";
  readonly retryAfterSeconds: number;

  constructor(readonly fault: FeedFault, message: string, more: { retryAfterSeconds?: number; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.retryAfterSeconds = more.retryAfterSeconds ?? 0;
  }
}

/**
 * Finds the feed that a provider's label stands for.
 *
 * @returns Undefined for labels without one: candles that were imported.
 * @throws {FeedError} `not_configured`, naming what is to be set.
 */
export type Feeds = (label: { readonly provider: Provider; readonly assetClass: AssetClass }) => Feed | undefined;
