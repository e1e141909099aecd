/** Everything that decides a run of a remote strategy. */
import type { Candles } from "../../engine/candles.ts";
import type { Period } from "../../engine/portfolio/portfolio.ts";
import type { MarketsTask, RunTask } from "./protocol.ts";

/** An endpoint whose name was looked up and checked: calls go to this address alone, even if the name moves later. */
export interface PinnedEndpoint {
  /** Complete, without fragment. It may hold its owner's token: never log it. */
  readonly url: string;
  /** `name:port`, for messages; another user's endpoint shows a general phrase instead. */
  readonly host: string;
  /** Another user's: only its owner may read where it is. */
  readonly isForeign?: boolean;
  /** A program that fetches its requests: the address is our own relay's, and its refusals say why in words. */
  readonly isServed?: boolean;
  /** Name or address, without brackets: what TLS verifies. */
  readonly hostname: string;
  /** IPv4, or IPv6 without brackets. */
  readonly address: string;
  readonly port: number;
  readonly secure: boolean;
}

/** Everything that decides a run of a remote strategy. */
export interface RemoteTask extends Omit<RunTask, "slug" | "candlesSha256" | "finer"> {
  /** The endpoint receives it with each request. */
  readonly runId: string;
  /** The endpoint receives it, too; absent: the candles are of no market. */
  readonly instrument?: { readonly symbol: string; readonly exchange: string };
  readonly endpoint: PinnedEndpoint;
  /** `batch` asks for many decisions at once; `step` for one, with the account. */
  readonly mode: "batch" | "step";
  /** For each request. */
  readonly timeoutMs: number;
  /** How many candles before an asked one the endpoint receives, as far as they are held. */
  readonly lookbackCandles: number;
  /** No decision before this many candles, the deciding one included; at least 1. */
  readonly minCandles: number;
  /** Finer candles as in a run; absent, too, where there are none. */
  readonly finer?: Candles | null;
  /** Absent: true. */
  readonly checksIntegrity?: boolean;
  /** The market's name where the run has several, for messages. */
  readonly market?: string;
}

/** Everything that decides a run of a remote strategy over many markets. */
export interface RemoteMarketsTask
  extends
    MarketsTask,
    Pick<RemoteTask, "runId" | "endpoint" | "timeoutMs" | "lookbackCandles" | "minCandles" | "parameters"> {
  /** `portfolio` asks for all markets at once; the others for each by itself. */
  readonly mode: RemoteTask["mode"] | "portfolio";
  /** How often `portfolio` asks; null: at each mark. */
  readonly every: Period | null;
}
