import type { Account, OrderBook, Strategy } from "../../../engine/strategy.ts";
import type { RemoteTask } from "../../common/remote_task.ts";
import { ActionPlayer } from "./actions.ts";
import type { Action } from "./answer.ts";
import { type Decisions, kindOf, planBatches } from "./batch.ts";
import type { Answered, RemoteClient } from "./client.ts";
import { digestOf } from "./compare.ts";
import { firstDecision, writeRequest } from "./request.ts";
import { type Stretch, stretchFrom } from "./stretch.ts";
import { type Step, StepKeeper } from "./step.ts";

const NONE: readonly Action[] = [];

/** An endpoint's strategy in one of many markets: its decision on a candle is asked for before the simulation takes it. */
abstract class RemoteMarket implements Strategy {
  readonly task: RemoteTask;
  readonly client: RemoteClient;
  protected readonly player = new ActionPlayer();
  #actions: readonly Action[] = NONE;

  constructor(task: RemoteTask, client: RemoteClient) {
    this.task = task;
    this.client = client;
  }

  get warmup(): number {
    return this.task.minCandles;
  }

  prepare(): void {}

  /** Gets the actions of candle `i`. @throws {RunError} */
  async load(i: number, account: Account, book: OrderBook): Promise<void> {
    this.#actions = await this.actionsOf(i, account, book);
  }

  /** Actions of the last candle. */
  get lastCount(): number {
    return this.#actions.length;
  }

  decide(_i: number, account: Account, book: OrderBook): void {
    this.player.play(this.#actions, account, book);
  }

  protected abstract actionsOf(i: number, account: Account, book: OrderBook): Promise<readonly Action[]>;
}

/** Asks for many candles at once, and for the next ones meanwhile. */
export class BatchMarket extends RemoteMarket {
  readonly #batches: readonly Stretch[];
  readonly #first: number;
  readonly #digests: Float64Array;
  readonly #kinds = new Map<string, number>();
  #number = -1;
  #batch: Stretch | null = null;
  #decided: readonly (readonly Action[])[] = [];
  #next: Promise<Answered> | null = null;

  constructor(task: RemoteTask, client: RemoteClient) {
    super(task, client);
    this.#batches = planBatches(task);
    this.#first = firstDecision(task);
    this.#digests = new Float64Array(Math.max(0, task.candles.time.length - this.#first));
  }

  /** The market's decisions, for comparison, once the run is over. */
  get decisions(): Decisions {
    return { first: this.#first, digests: this.#digests, kinds: this.#kinds };
  }

  protected override async actionsOf(i: number): Promise<readonly Action[]> {
    while (this.#batch === null || i >= this.#batch.until) await this.#takeNext();
    return this.#decided[i - this.#batch.first] ?? NONE;
  }

  async #takeNext(): Promise<void> {
    const batch = this.#batches[++this.#number]!;
    const answer = await (this.#next ?? this.#start(batch));
    this.#decided = answer.decisions;
    this.client.draw(batch, answer);
    this.#batch = batch;
    const following = this.#batches[this.#number + 1];
    this.#next = following === undefined ? null : this.#start(following);
    this.#decided.forEach((actions, n) => {
      this.#digests[batch.first - this.#first + n] = digestOf(actions);
      for (const action of actions) this.#kinds.set(kindOf(action), batch.first + n);
    });
  }

  /** Starts a request whose failure is handled later, when its answer is awaited. */
  #start(batch: Stretch): Promise<Answered> {
    const answer = this.client.ask(batch);
    answer.catch(() => {});
    return answer;
  }
}

/** Asks for one candle at a time, with the account. */
export class StepMarket extends RemoteMarket {
  readonly #keeper: StepKeeper;

  constructor(task: RemoteTask, client: RemoteClient) {
    super(task, client);
    this.#keeper = new StepKeeper(task.seed, task.candles.time.length - firstDecision(task));
  }

  /** A sample of its steps, to ask them again. */
  get kept(): readonly Step[] {
    return this.#keeper.kept;
  }

  protected override async actionsOf(i: number, account: Account, book: OrderBook): Promise<readonly Action[]> {
    const stretch = stretchFrom(i, 1, this.task.lookbackCandles);
    const request = writeRequest(this.task, stretch, {
      ...{ account, book, i, firstIndex: this.task.firstIndex },
      player: this.player,
    });
    const answer = await this.client.askWith(stretch, request);
    const [actions = NONE] = answer.decisions;
    this.client.draw(stretch, answer);
    this.#keeper.offer({ stretch, request, actions });
    return actions;
  }
}
