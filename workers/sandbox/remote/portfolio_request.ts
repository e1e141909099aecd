import type { PortfolioAccount } from "../../../engine/portfolio/portfolio.ts";
import type { Seat } from "../../../engine/portfolio/seat.ts";
import type { RemoteMarketsTask } from "../../common/remote_task.ts";
import { candleMs } from "../candle_series.ts";
import type { ActionPlayer } from "./actions.ts";
import { writeMarket } from "./request.ts";
import { stretchFrom } from "./stretch.ts";
import { writeInputs } from "./request_inputs.ts";

/** The version of requests about all markets at once. */
export const PORTFOLIO_VERSION = 2;

/** An instant at which a strategy for all markets is asked. */
interface Moment {
  readonly now: number;
  readonly seats: readonly Seat[];
  readonly account: PortfolioAccount;
  /** The player of the endpoint's actions in a market. */
  readonly playerOf: (seat: Seat) => ActionPlayer;
}

/** A request's body: each market has the candles that have closed by now, the newest last. */
export function writeMoment(task: RemoteMarketsTask, { now, seats, account, playerOf }: Moment): string {
  return JSON.stringify({
    version: PORTFOLIO_VERSION,
    run_id: task.runId,
    mode: task.mode,
    timeframe_ms: candleMs(task.timeframeMs),
    initial_balance: task.initialBalance,
    parameters: task.parameters,
    lookback_candles: task.lookbackCandles,
    now,
    account: { cash: account.cash, equity: account.equity },
    markets: seats.map((seat) => ({
      id: seat.id,
      symbol: seat.symbol,
      exchange: seat.exchange,
      is_member: seat.isMember,
      has_closed: seat.hasClosed,
      quantity: seat.quantity,
      entry_price: seat.quantity === 0 ? null : seat.entryPrice,
      weight: seat.weight,
      candles: writeCandles(seat, task.lookbackCandles),
      ...writeMarketInputs(task, seat),
      ...writeMarket({
        ...{ book: seat.market.book, player: playerOf(seat), i: seat.i },
        firstIndex: Math.max(0, seat.i - task.lookbackCandles),
      }),
    })),
  });
}

function writeCandles({ candles, i }: Seat, lookbackCandles: number) {
  const column = (values: Float64Array) => Array.from(values.subarray(Math.max(0, i - lookbackCandles), i + 1));
  const { time, open, high, low, close, volume } = candles;
  return {
    ...{ time: column(time), open: column(open), high: column(high), low: column(low) },
    ...{ close: column(close), volume: column(volume) },
  };
}

/** A market that has no closed candle yet knows none of its inputs. */
function writeMarketInputs({ markets, lookbackCandles }: RemoteMarketsTask, { index, candles, i }: Seat) {
  const inputs = markets[index]!.inputs ?? [];
  const stretch = i < 0 ? { from: 0, first: 0, until: 0 } : stretchFrom(i, 1, lookbackCandles);
  return writeInputs({ inputs, candles, lookbackCandles }, stretch);
}
