import type { z } from "zod";
import type { AssetClass, Instrument, Provider } from "../../db/instruments.ts";
import type { Hours } from "../calendar/exchange_sessions.ts";
import type { Candles } from "../../engine/candles.ts";
import type { Timeframe } from "../timeframes.ts";

/** The candles of one instrument that a caller wants from a feed. */
export interface FeedRequest {
  readonly instrument: Pick<Instrument, "symbol" | "exchange" | "assetClass">;
  /** A timeframe that `sourceTimeframe` returns. */
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
  /** How many rows of the answer were left out because they are no candles (see candle_rules.ts). */
  readonly rejected?: number;
}

/** A source of candles. */
export interface Feed {
  readonly name: string;
  /** The archive keeps the feed's instruments under this exchange. */
  readonly exchange: string;
  /** A candle is final this long after its close. A younger one that is missing is requested again. */
  readonly settleMs: number;
  /** The currency in which the feed quotes an instrument; absent or null: it does not tell. */
  currencyOf?(instrument: Pick<Instrument, "symbol" | "assetClass">): string | null;
  /** The timeframe to fetch for candles of a timeframe: the same, or a finer one that keeps to the sessions of the asset class. */
  sourceTimeframe(timeframe: Timeframe, assetClass: AssetClass, hours?: Hours): Timeframe;
  /**
   * Yields the request's range from start to end, in parts without holes between them. The last part may end earlier where the feed has
   * no more candles yet.
   *
   * @throws {FeedError}
   */
  fetch(request: FeedRequest): AsyncIterable<FeedPart>;
}

/** An environment variable of a feed and its row in the table of settings. */
export interface FeedVariable {
  /** Checks the variable's text. */
  readonly schema: z.ZodType<string | undefined, string | undefined>;
  readonly description: string;
  /** Describes the default where the schema has none. */
  readonly unset?: string;
  /** Error messages do not quote the value. */
  readonly isSecret?: true;
}

/** Checked environment variables by name; one that is not set has its default. */
export type FeedSettings = Readonly<Record<string, string | undefined>>;

/** The variable that a feed cannot work without, and the feed's exchange. */
interface MissingSetting {
  readonly missing: string;
  readonly exchange: string;
}

/** A feed's file exports this: all that the registry and the configuration know about the feed. */
export interface FeedDefinition {
  /** The name that PROVIDER_A and PROVIDER_B use. */
  readonly name: string;
  readonly assetClasses: readonly AssetClass[];
  readonly variables: Readonly<Record<string, FeedVariable>>;
  /** Creates the feed without a request to its provider, or names the variable that it cannot work without. */
  readonly create: (settings: FeedSettings) => Feed | MissingSetting;
}

/** The reason why a feed did not answer. */
export type FeedFault =
  /** The limit is used up; try again after `retryAfterSeconds`. */
  | "rate_limited"
  /** The provider is not reachable or has an error of its own; a retry may work. */
  | "failed"
  /** The provider refuses the request or the key, or answers in another format; a retry does not help. */
  | "refused"
  /** The provider does not know the symbol. */
  | "unknown_symbol"
  /** The service lacks the configuration for the feed. */
  | "not_configured";

/** A feed did not answer; the message names the feed and quotes its answer. */
export class FeedError extends Error {
  override readonly name = "FeedError";
  readonly retryAfterSeconds: number;
  /** The setting that a feed lacks; undefined where no feed is bound. */
  readonly lacking: MissingSetting | undefined;

  constructor(
    readonly fault: FeedFault,
    message: string,
    more: { retryAfterSeconds?: number; lacking?: MissingSetting | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.retryAfterSeconds = more.retryAfterSeconds ?? 0;
    this.lacking = more.lacking;
  }
}

/**
 * Finds the feed of a provider's label.
 *
 * @returns Undefined for a label without a feed: imported candles.
 * @throws {FeedError} `not_configured`, with the name of the variable to set.
 */
export type Feeds = (label: { readonly provider: Provider; readonly assetClass: AssetClass }) => Feed | undefined;
