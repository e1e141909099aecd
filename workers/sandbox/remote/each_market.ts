/** An endpoint for one market, over many: it is asked for each by itself, and one account is between them. */
import type { PortfolioRequest, PortfolioResult } from "../../../engine/portfolio/portfolio.ts";
import type { Seat } from "../../../engine/portfolio/seat.ts";
import type { Timeline } from "../../../engine/portfolio/timeline.ts";
import type { Finding, Integrity } from "../../../engine/result.ts";
import { RunError } from "../../common/outcome.ts";
import type { RemoteMarketsTask, RemoteTask } from "../../common/remote_task.ts";
import { checkOrders } from "../integrity.ts";
import { joinPlots } from "../markets/market_plots.ts";
import { MarketsLog } from "../markets/markets_log.ts";
import type { PlacedOrders } from "../temptations.ts";
import { ACTIONS_MAX } from "./batch.ts";
import { RemoteClient } from "./client.ts";
import { skipAll } from "./compare.ts";
import { BatchChecks } from "./integrity.ts";
import type { EndpointLine } from "./line.ts";
import { checkSteps } from "./step_integrity.ts";
import { BatchMarket, StepMarket } from "./market_stream.ts";

// Each check asks again about a market: the first ones stand for all.
const CHECKED_MAX = 4;
const CHECKS = ["lookahead", "determinism", "warm_up"] as const;

/** The strategies of an endpoint for one market, in all markets of a run. */
export class EachRemote {
  readonly strategy: PortfolioRequest["strategy"];
  readonly #task: RemoteMarketsTask;
  readonly #markets: readonly (BatchMarket | StepMarket)[];
  #actionsCount = 0;

  constructor(task: RemoteMarketsTask, mode: RemoteTask["mode"], line: EndpointLine) {
    const { markets, positionsMax, rank } = task;
    this.#task = task;
    this.#markets = markets.map((each) => {
      const { id, symbol, exchange, candles, firstIndex, tradingDays = null, finer = null, inputs = [] } = each;
      const named = { instrument: { symbol, exchange }, ...(markets.length === 1 ? {} : { market: id }) };
      const market = { candles, firstIndex, tradingDays, finer, inputs };
      const own: RemoteTask = { ...task, mode, ...market, assetClass: null, ...named };
      const client = new RemoteClient(own, line);
      return mode === "batch" ? new BatchMarket(own, client) : new StepMarket(own, client);
    });
    this.strategy = { kind: "each", strategies: this.#markets, positionsMax, rank };
  }

  /** Gets the decisions of the markets that are asked at one instant. @param show Makes a market see the account. */
  async load(asked: readonly Seat[], show: (seat: Seat) => void): Promise<void> {
    await Promise.all(asked.map((seat) => {
      show(seat);
      // The request is written before the next market is shown.
      return this.#markets[seat.index]!.load(seat.i, seat.ledger, seat.market.book);
    }));
    for (const { index } of asked) this.#actionsCount += this.#markets[index]!.lastCount;
    if (this.#actionsCount <= ACTIONS_MAX) return;
    throw new RunError(
      "INVALID_SIGNAL",
      `Cannot take more than ${ACTIONS_MAX} actions of a run, reached for ${this.#task.endpoint.host}`,
    );
  }

  /** The series of the first markets, as many as a run keeps, by the marks of the run. */
  takePlots(timeline: Timeline) {
    const { markets } = this.#task;
    const log = new MarketsLog(() => {});
    for (const [n, { client }] of this.#markets.entries()) {
      log.add(markets.length === 1 ? null : markets[n]!.id, client.plots.log);
    }
    const joined = joinPlots(markets, timeline, (market) => this.#markets[market]!.client.plots.kept);
    return { ...joined, log: log.lines };
  }

  async check(result: PortfolioResult): Promise<Integrity> {
    const found: (readonly [id: string, findings: Omit<Integrity, "orders">])[] = [];
    for (const [n, market] of this.#markets.entries()) {
      if (n >= CHECKED_MAX) break;
      const placed = this.#markets.length === 1 ? result : ordersOf(result, n);
      const findings = market instanceof StepMarket
        ? await checkSteps(market.task, market.client, market.kept)
        : await new BatchChecks(market.task, market.client, market.decisions, placed).run();
      found.push([this.#task.markets[n]!.id, findings]);
    }
    const [only] = found;
    const findings = found.length === 1 ? only![1] : combine(found);
    return { ...findings, orders: checkOrders(result) };
  }
}

/** One finding a check: the first that failed, or else the first that passed. */
function combine(found: readonly (readonly [string, Omit<Integrity, "orders">])[]): Omit<Integrity, "orders"> {
  const findings = { ...skipAll("There was no market to check.") };
  for (const check of CHECKS) {
    const pick = (status: Finding["status"]) => found.find(([, each]) => each[check].status === status);
    const [id, chosen] = pick("failed") ?? pick("passed") ?? found[0]!;
    const finding = chosen[check];
    const where = finding.status === "failed" ? `In ${id}` : `In ${found.map(([each]) => each).join(", ")}; ${id}`;
    findings[check] = { ...finding, evidence: `${where}: ${finding.evidence}` };
  }
  return findings;
}

/** The orders and trades of one market, by rows of its own. */
function ordersOf({ orders, trades }: PortfolioResult, market: number): PlacedOrders {
  const rowsOf = (markets: Uint16Array) => Array.from(markets.keys()).filter((row) => markets[row] === market);
  const placed = rowsOf(orders.market);
  const made = rowsOf(trades.market);
  const rowOf = new Map(placed.map((row, n) => [row, n]));
  const own = (order: number) => rowOf.get(order) ?? -1;
  return {
    orders: {
      count: placed.length,
      time: Float64Array.from(placed, (row) => orders.time[row]!),
      side: Int8Array.from(placed, (row) => orders.side[row]!),
      type: Uint8Array.from(placed, (row) => orders.type[row]!),
    },
    trades: {
      count: made.length,
      entryOrder: Int32Array.from(made, (row) => own(trades.entryOrder[row]!)),
      exitOrder: Int32Array.from(made, (row) => own(trades.exitOrder[row]!)),
      pnl: Float64Array.from(made, (row) => trades.pnl[row]!),
    },
  };
}
