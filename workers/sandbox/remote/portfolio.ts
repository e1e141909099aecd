/** An endpoint that decides on all markets at once: it is asked once an instant, with the account. */
import type {
  MarketView,
  Period,
  PortfolioAccount,
  PortfolioOrders,
  PortfolioResult,
  PortfolioStrategy,
} from "../../../engine/portfolio/portfolio.ts";
import type { Seat } from "../../../engine/portfolio/seat.ts";
import type { Finding, Integrity } from "../../../engine/result.ts";
import { RunError } from "../../common/outcome.ts";
import type { RemoteMarketsTask } from "../../common/remote_task.ts";
import { RUN_ORDERS_MAX } from "../contracts/abi.ts";
import { checkOrders } from "../integrity.ts";
import { Random } from "../random.ts";
import { ActionPlayer } from "./actions.ts";
import { AnswerError } from "./answer_fault.ts";
import { ACTIONS_MAX } from "./batch.ts";
import { ANSWER_BYTES_MAX, type EndpointLine, LineFault } from "./line.ts";
import type { EndpointPlots } from "./plots.ts";
import { makeFinder, type PortfolioAnswer, readPortfolioAnswer } from "./portfolio_answer.ts";
import { writeMoment } from "./portfolio_request.ts";

const ANSWER_BYTES_MAX_PER_MARKET = 4096;
/** Moments that are asked again. */
const KEPT_MAX = 8;
const SKIPPED = { status: "skipped", evidence: "Not tested in a run over many markets." } as const;

/** An instant, the row of its mark, and what takes the values that are drawn there. */
interface Moment {
  readonly now: number;
  readonly row: number;
  readonly plots: EndpointPlots;
}

interface KeptMoment {
  readonly now: number;
  readonly request: string;
  readonly answer: string;
}

/** The strategy of an endpoint for all markets. Its decision is asked for before the simulation takes it. */
export class PortfolioRemote {
  readonly strategy: PortfolioStrategy;
  readonly #task: RemoteMarketsTask;
  readonly #line: EndpointLine;
  readonly #players: readonly ActionPlayer[];
  readonly #find: (name: string) => number;
  readonly #random: Random;
  readonly #kept: KeptMoment[] = [];
  #moments = 0;
  #acts = 0;
  #answer: PortfolioAnswer | null = null;

  constructor(task: RemoteMarketsTask, line: EndpointLine) {
    this.#task = task;
    this.#line = line;
    this.#players = task.markets.map(() => new ActionPlayer());
    this.#find = makeFinder(task.markets);
    this.#random = new Random(task.seed);
    this.strategy = new Answered(task, (markets, orders) => this.#carryOut(markets, orders));
  }

  /** Gets the decision of an instant. @throws {RunError} */
  async load({ now, row, plots }: Moment, seats: readonly Seat[], account: PortfolioAccount): Promise<void> {
    const playerOf = (seat: Seat) => this.#players[seat.index]!;
    const request = writeMoment(this.#task, { now, seats, account, playerOf });
    this.#answer = await this.#ask(now, request, ({ series }) => plots.take(row, series));
    this.#count(this.#answer);
    this.#keep({ now, request, answer: textOf(this.#answer) });
  }

  async check(result: PortfolioResult): Promise<Integrity> {
    const evidence = "In mode portfolio the endpoint never gets a candle that has not closed.";
    return {
      lookahead: { status: "passed", evidence },
      determinism: await this.#askAgain(),
      warm_up: SKIPPED,
      orders: checkOrders(result),
    };
  }

  /** @param use Takes the answer; its AnswerError is the endpoint's. */
  async #ask(now: number, request: string, use?: (answer: PortfolioAnswer) => void): Promise<PortfolioAnswer> {
    const count = this.#task.markets.length;
    try {
      const body = await this.#line.post(request, ANSWER_BYTES_MAX + ANSWER_BYTES_MAX_PER_MARKET * count);
      const answer = readPortfolioAnswer(body, this.#find, count);
      use?.(answer);
      return answer;
    } catch (error) {
      const at = `${this.#task.endpoint.host} for ${new Date(now).toISOString()}`;
      if (error instanceof AnswerError) {
        throw new RunError("INVALID_SIGNAL", `Cannot use the answer of ${at}: ${error.message}`);
      }
      if (error instanceof LineFault) {
        throw new RunError(error.code, `Cannot get an answer from ${at}: ${error.message}`);
      }
      throw error;
    }
  }

  #carryOut(markets: readonly MarketView[], orders: PortfolioOrders): void {
    const { weights, minTrade, tag, orders: actions } = this.#answer!;
    if (weights !== null) orders.target(weights, minTrade, tag);
    for (const [market, given] of actions) this.#players[market]!.play(given, markets[market]!, orders.of(market));
  }

  /** Bounds what a run may order, as of other code. */
  #count({ weights, orders }: PortfolioAnswer): void {
    if (weights !== null) {
      this.#acts += weights.reduce((sum, weight) => sum + (weight !== 0 && !Number.isNaN(weight) ? 1 : 0), 0);
    }
    for (const actions of orders.values()) this.#acts += actions.length;
    const most = Math.min(RUN_ORDERS_MAX, ACTIONS_MAX);
    if (this.#acts > most) {
      throw new RunError("INVALID_SIGNAL", `Cannot take more than ${most} targets and actions of a run`);
    }
  }

  /** Keeps a fair sample (reservoir sampling). */
  #keep(moment: KeptMoment): void {
    if (this.#kept.length < KEPT_MAX) this.#kept.push(moment);
    else {
      const place = this.#random.below(++this.#moments + KEPT_MAX);
      if (place < KEPT_MAX) this.#kept[place] = moment;
    }
  }

  async #askAgain(): Promise<Finding> {
    if (this.#kept.length === 0) return { status: "skipped", evidence: "There was no moment to decide on." };
    for (const { now, request, answer } of this.#kept) {
      const at = new Date(now).toISOString();
      try {
        if (textOf(await this.#ask(now, request)) === answer) continue;
        return { status: "failed", evidence: `On an equal request, the endpoint decided differently for ${at}.` };
      } catch (error) {
        if (!(error instanceof RunError)) throw error;
        return { status: "skipped", evidence: `The endpoint failed on a repeated request: ${error.message}` };
      }
    }
    return { status: "passed", evidence: `Asked again at ${this.#kept.length} moments: the decisions were the same.` };
  }
}

/** A strategy whose answers to the simulation are there already. */
class Answered implements PortfolioStrategy {
  readonly kind = "portfolio";
  readonly warmup: number;
  readonly every: Period | null;
  readonly #carryOut: (markets: readonly MarketView[], orders: PortfolioOrders) => void;

  constructor(
    { minCandles, every }: RemoteMarketsTask,
    carryOut: (markets: readonly MarketView[], orders: PortfolioOrders) => void,
  ) {
    this.warmup = minCandles;
    this.every = every;
    this.#carryOut = carryOut;
  }

  prepare(): void {}

  decide(_now: number, markets: readonly MarketView[], _account: PortfolioAccount, orders: PortfolioOrders): void {
    this.#carryOut(markets, orders);
  }
}

/** An answer but for its plots. NaN becomes null in both that are compared. */
function textOf({ weights, orders, series: _series, ...rest }: PortfolioAnswer): string {
  return JSON.stringify({ ...rest, weights: weights && [...weights], orders: [...orders] });
}
