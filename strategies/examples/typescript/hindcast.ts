/** Serves a remote strategy over HTTP with Deno and nothing else: version 1 of strategies/REMOTE.md, which explains every field. */

const PROTOCOL_VERSION = 1;

export interface DecisionRequest<Parameters> {
  readonly version: number;
  readonly run_id: string;
  readonly mode: "batch" | "step";
  readonly timeframe_ms: number;
  readonly initial_balance: number;
  readonly parameters: Parameters;
  readonly lookback_candles: number;
  readonly first_asked: number;
  /** Decisions are asked for on the last `asked` candles. */
  readonly asked: number;
  /** Lists of equal length, oldest first. */
  readonly candles: Readonly<Record<"time" | "open" | "high" | "low" | "close" | "volume", readonly number[]>>;
  /** The account, its trades and its orders; in step mode alone. */
  readonly account?: Readonly<Record<"cash" | "equity" | "quantity", number>> & { readonly entry_price: number | null };
  readonly open_trades?: readonly OpenTrade[];
  readonly fills?: readonly Fill[];
  readonly working_orders?: readonly string[];
}

/** An open trade. Times are in milliseconds, and prices null where there is none. */
interface OpenTrade extends
  Readonly<
    Record<
      "trade" | "quantity" | "entry_price" | "entry_index" | "entry_time" | "profit" | "best_price" | "worst_price",
      number
    >
  >,
  Readonly<Record<"stop_loss" | "take_profit" | "trailing_stop", number | null>>,
  Readonly<Record<"order" | "tag", string | null>> {}

/** A fill since the last request, and what it closed. */
interface Fill
  extends
    Readonly<Record<"trade" | "quantity" | "price" | "fee" | "index" | "time", number>>,
    Readonly<Record<"order" | "tag" | "exit_reason", string | null>> {
  readonly side: "buy" | "sell";
  readonly closed:
    | Readonly<
      Record<"entry_index" | "entry_time" | "entry_price" | "profit" | "fees" | "best_price" | "worst_price", number>
    >
      & { readonly order: string | null }
    | null;
}

/** The position at a candle's close on which an action depends. */
type When = "always" | "flat" | "in_position" | "long" | "short" | "not_long" | "not_short";

type Amount =
  | "size"
  | "limit_price"
  | "stop_price"
  | "stop_loss"
  | "take_profit"
  | "stop_loss_fraction"
  | "take_profit_fraction"
  | "trail_distance"
  | "trail_fraction"
  | "candles_max"
  | "time_stop_candles";

interface Order extends Readonly<Partial<Record<Amount, number>>> {
  readonly side: "buy" | "sell";
  readonly type?: "market" | "limit" | "stop" | "stop_limit";
  readonly size_by?: "units" | "equity_fraction" | "cash" | "risk_fraction";
  readonly reduce_only?: boolean;
  readonly tag?: string;
}

export type Action =
  & { readonly when?: When }
  & (
    | Order & { readonly action?: "order"; readonly id?: string }
    | Order & { readonly action: "replace"; readonly id: string }
    | { readonly action: "cancel"; readonly id: string }
    | { readonly action: "cancel_all" }
    | { readonly action: "close"; readonly fraction?: number; readonly trade?: number; readonly tag?: string }
    | {
      readonly action: "protect";
      readonly trade?: number;
      readonly stop_loss: number | null;
      readonly take_profit: number | null;
    }
  );

/**
 * Serves on `--port`, 9000 by default, and prints its URL first.
 *
 * @param decide Returns a list of actions for each asked candle.
 */
export function serve<Parameters>(decide: (request: DecisionRequest<Parameters>) => readonly Action[][]): void {
  const port = Deno.args.map((argument) => /^--port=(\d+)$/.exec(argument)?.[1]).find((found) => found !== undefined);
  const onListen = ({ port }: Deno.NetAddr) =>
    void Deno.stdout.write(new TextEncoder().encode(`http://127.0.0.1:${port}/\n`));
  Deno.serve({ hostname: "127.0.0.1", port: Number(port ?? 9000), onListen }, (http) => answer(http, decide));
}

async function answer<Parameters>(
  http: Request,
  decide: (request: DecisionRequest<Parameters>) => readonly Action[][],
): Promise<Response> {
  // Allows Hindcast to compress its requests.
  const headers = { "accept-encoding": "gzip" };
  try {
    const isPacked = http.headers.get("content-encoding") === "gzip";
    const body = isPacked ? http.body!.pipeThrough(new DecompressionStream("gzip")) : http.body;
    const request: DecisionRequest<Parameters> = await new Response(body).json();
    if (request.version !== PROTOCOL_VERSION) throw new RangeError(`Cannot speak protocol version ${request.version}`);
    return Response.json({ version: PROTOCOL_VERSION, decisions: decide(request) }, { headers });
  } catch (error) {
    return Response.json({ error: String(error) }, { status: 400, headers });
  }
}
