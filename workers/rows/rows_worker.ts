import type { StoredTrials, TrialRows } from "../../db/codec/trial_rows.ts";
import { UnreadableRecord } from "../../db/codec/unreadable.ts";
import type { EquityColumns } from "../../db/codec/result_parts.ts";
import type { ResultRows, RowPlaces, RowRange, StoredRows } from "../../db/codec/result_rows.ts";
import {
  type CutTask,
  type PickTask,
  type RowsAnswer,
  type RowsTask,
  RowsWork,
  type Wanted,
  type WriteTask,
  type WrittenRows,
} from "./rows_task.ts";
import { RowsClosed } from "./rows_closed.ts";
import type { OrderedRows, RowKeys, WantedRows } from "./row_order.ts";
import type { ClosedTrades, TradeSpread } from "./trade_spread.ts";
import type { RowsForm } from "./write_result_rows.ts";

/** Tasks with their chunk in memory: each has some megabytes. */
const AT_ONCE = 4;
/** An idle thread gives back what it keeps. */
const IDLE_MS = 30_000;

/** A stored chunk, which is read only where the thread does not have it yet. */
export interface ChunkSource<Stored> {
  /** The same for no other chunk. */
  readonly key: string;
  /** The record that the chunk belongs to, as readRecord() names it. */
  readonly record: string;
  /** Undefined once the chunk is deleted. */
  read(): Promise<Stored | undefined>;
}

/** Decodes and writes the rows of lists, and compares the days of runs, in a thread of its own, so that requests are answered meanwhile. It starts with the first task. */
export class RowsWorker {
  #thread: Worker | undefined;
  /** Where there are no threads, the work is done here. */
  #own: RowsWork | undefined;
  readonly #answers: PromiseWithResolvers<RowsAnswer>[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #idleMs: number;
  /** Orders millions of rows, which takes seconds, in a thread of its own: no list waits behind it. */
  #sorter: RowsWorker | undefined;
  #running = 0;
  #isClosed = false;
  #idle: ReturnType<typeof setTimeout> | undefined;

  /** @param idleMs An idle thread ends after this time; a later task starts another. */
  constructor(idleMs: number = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  /** Trials of a chunk in a format; undefined once the chunk is deleted. @throws {UnreadableRecord} */
  async write(
    source: ChunkSource<StoredTrials>,
    task: Omit<WriteTask, "kind" | "key" | "chunk">,
  ): Promise<WrittenRows | undefined> {
    const answer = await this.#doWithTrials(source, { ...task, kind: "write" });
    return answer === undefined ? undefined : required(answer, "written");
  }

  /** Trials of a chunk; undefined once it is deleted. @throws {UnreadableRecord} */
  async pick(source: ChunkSource<StoredTrials>, wanted: Wanted): Promise<TrialRows | undefined> {
    const answer = await this.#doWithTrials(source, { kind: "pick", wanted });
    return answer === undefined ? undefined : required(answer, "picked").rows;
  }

  /** Ends the thread for good: tasks under way and later ones throw {@link RowsClosed}. */
  close(): void {
    clearTimeout(this.#idle);
    this.#isClosed = true;
    this.#sorter?.close();
    this.#thread?.terminate();
    for (const answer of this.#answers.splice(0)) answer.reject(new RowsClosed());
  }

  /** Rows of a chunk of trades or orders; undefined where there is none. @throws {UnreadableRecord} */
  async cut(source: ChunkSource<StoredRows>, range: RowRange | RowPlaces): Promise<ResultRows | undefined> {
    const { key } = source;
    const toTask = (stored: StoredRows | null): CutTask => ({
      kind: "cut",
      key,
      chunk: stored && ownBytes(stored),
      range,
    });
    const answer = await this.#doWithChunk(source, toTask);
    return answer === undefined ? undefined : required(answer, "cut").rows;
  }

  /** Rows of a chunk of trades or orders in a format; undefined where there is none. @throws {UnreadableRecord} */
  async writeRows(
    source: ChunkSource<StoredRows>,
    range: RowRange,
    form: RowsForm,
  ): Promise<WrittenRows | undefined> {
    const { key } = source;
    const toTask = (stored: StoredRows | null) =>
      ({ kind: "write-rows", key, chunk: stored && ownBytes(stored), range, form }) as const;
    const answer = await this.#doWithChunk(source, toTask);
    return answer === undefined ? undefined : required(answer, "written");
  }

  /** A chunk of a curve; undefined where there is none. @throws {UnreadableRecord} */
  async curve(source: ChunkSource<StoredRows>): Promise<EquityColumns | undefined> {
    const { key } = source;
    const toTask = (stored: StoredRows | null) => ({ kind: "curve", key, chunk: stored && ownBytes(stored) }) as const;
    const answer = await this.#doWithChunk(source, toTask);
    return answer === undefined ? undefined : required(answer, "curve").curve;
  }

  /**
   * Takes rows out of an order, which the thread keeps for a while.
   *
   * @param key The same for no other order. @param keys What it is made of, given away; null to ask for one that may be kept.
   * @returns Undefined where none is kept.
   */
  async order(key: string, keys: RowKeys | null, wanted: WantedRows): Promise<OrderedRows | undefined> {
    const answer = await this.#sort({ kind: "order", key, chunk: keys, wanted });
    return answer.type === "missing" ? undefined : required(answer, "ordered").ordered;
  }

  /** Measures how closed trades are spread. @param trades Given away. */
  async spread(trades: ClosedTrades): Promise<TradeSpread> {
    return required(await this.#sort({ kind: "spread", trades }), "spread").spread;
  }

  /**
   * Counts the independent trials that some runs amount to.
   *
   * @param returns Daily returns, one run after the other, each of the same length; they are given away.
   */
  async compare(returns: Float64Array<ArrayBuffer>, runs: number): Promise<number> {
    const answer = await this.#inTurn(() => this.#do({ kind: "compare", returns, runs }));
    return required(answer, "compared").independent;
  }

  /** A PNG of equity curves; drawCurves() has their bounds. */
  async draw(curves: readonly (readonly number[])[]): Promise<Uint8Array<ArrayBuffer>> {
    return required(await this.#inTurn(() => this.#do({ kind: "draw", curves })), "drawn").png;
  }

  async #sort(task: RowsTask): Promise<RowsAnswer> {
    if (this.#isClosed) throw new RowsClosed();
    const sorter = this.#sorter ??= new RowsWorker(this.#idleMs);
    return await sorter.#inTurn(() => sorter.#do(task));
  }

  #doWithTrials(
    source: ChunkSource<StoredTrials>,
    task: Omit<WriteTask, "key" | "chunk"> | Omit<PickTask, "key" | "chunk">,
  ): Promise<RowsAnswer | undefined> {
    const { key } = source;
    return this.#doWithChunk(
      source,
      (stored) => ({ ...task, key, chunk: stored && { ...stored, data: new Uint8Array(stored.data) } }),
    );
  }

  #doWithChunk<Stored>(
    { record, read }: ChunkSource<Stored>,
    toTask: (chunk: Stored | null) => RowsTask,
  ): Promise<RowsAnswer | undefined> {
    return this.#inTurn(async () => {
      const answer = await this.#do(toTask(null));
      if (answer.type === "unreadable") throw new UnreadableRecord(record, answer.message);
      if (answer.type !== "missing") return answer;
      const chunk = await read();
      if (chunk === undefined) return undefined;
      // A copy can be given away: the driver's bytes may lie in a larger buffer.
      const done = await this.#do(toTask(chunk));
      if (done.type === "unreadable") throw new UnreadableRecord(record, done.message);
      return done;
    });
  }

  async #inTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (this.#running < AT_ONCE) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    clearTimeout(this.#idle);
    try {
      return await work();
    } finally {
      // The turn of the one that ends is passed on.
      const next = this.#waiting.shift();
      if (next !== undefined) next();
      else if (--this.#running === 0 && !this.#isClosed) this.#endWhenIdle();
    }
  }

  async #do(task: RowsTask): Promise<RowsAnswer> {
    if (this.#isClosed) throw new RowsClosed();
    const thread = this.#thread ?? this.#start();
    if (thread === undefined) {
      this.#own ??= new RowsWork();
      return await doLater(this.#own, task);
    }
    const answer = Promise.withResolvers<RowsAnswer>();
    this.#answers.push(answer);
    thread.postMessage(task, dataOf(task).flatMap(({ buffer }) => buffer instanceof ArrayBuffer ? [buffer] : []));
    return await answer.promise;
  }

  #start(): Worker | undefined {
    // Some hosts have none.
    if (typeof Worker === "undefined") return undefined;
    const thread = new Worker(new URL("./rows_thread.ts", import.meta.url), {
      type: "module",
      name: "hindcast-rows",
      deno: { permissions: "none" },
    });
    // Tasks are answered in their order.
    thread.onmessage = ({ data }: MessageEvent<RowsAnswer>) => this.#answers.shift()?.resolve(data);
    thread.onerror = (event) => {
      // An unhandled error would end this whole process.
      event.preventDefault();
      this.#fail(event.message);
    };
    thread.onmessageerror = () => this.#fail("its answer could not be read");
    this.#thread = thread;
    return thread;
  }

  #endWhenIdle(): void {
    const idle = setTimeout(() => this.#fail("it was idle"), this.#idleMs);
    // It must not keep the process.
    Deno.unrefTimer(idle);
    this.#idle = idle;
  }

  #fail(message: string): void {
    this.#thread?.terminate();
    this.#thread = undefined;
    for (const answer of this.#answers.splice(0)) answer.resolve({ type: "failed", message });
  }
}

function ownBytes({ data, candles, tags }: StoredRows): StoredRows {
  // Not slice(), which is a view where the bytes are Node's.
  return {
    data: new Uint8Array(data),
    candles: candles && new Uint8Array(candles),
    tags: tags && new Uint8Array(tags),
  };
}

/** Requests are answered before it. */
async function doLater(work: RowsWork, task: RowsTask): Promise<RowsAnswer> {
  await new Promise((resume) => setTimeout(resume));
  return work.do(task);
}

function required<Type extends RowsAnswer["type"]>(
  answer: RowsAnswer,
  type: Type,
): Extract<RowsAnswer, { readonly type: Type }> {
  if (isOfType(answer, type)) return answer;
  throw new Error(`Cannot write rows: ${answer.type === "failed" ? answer.message : `the answer is ${answer.type}`}`);
}

function isOfType<Type extends RowsAnswer["type"]>(
  answer: RowsAnswer,
  type: Type,
): answer is Extract<RowsAnswer, { readonly type: Type }> {
  return answer.type === type;
}

/** The bytes that are given to the thread with a task. */
function dataOf(task: RowsTask): readonly ArrayBufferView[] {
  if (task.kind === "draw") return [];
  if (task.kind === "spread") return Object.values(task.trades);
  if (task.kind === "compare") return [task.returns];
  return task.chunk === null ? [] : ["keys" in task.chunk ? task.chunk.keys : task.chunk.data];
}
