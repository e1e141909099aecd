interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Batches calls: those that arrive during a batch form the next one. A single call starts at once. */
export class Batcher<Item, Answer> {
  readonly #work: (items: readonly Item[]) => Promise<readonly Answer[]>;
  readonly #itemsMax: number;
  readonly #isSafe: (error: unknown) => boolean;
  readonly #waiting: Waiting<Item, Answer>[] = [];
  #isWorking = false;

  /**
   * @param work Answers each item, in order; after a rejected batch, each item is retried alone.
   * @param isSafe True if nothing came of a batch that was rejected with this error; else no item is retried.
   */
  constructor(
    work: (items: readonly Item[]) => Promise<readonly Answer[]>,
    itemsMax: number,
    isSafe: (error: unknown) => boolean = () => true,
  ) {
    this.#work = work;
    this.#itemsMax = itemsMax;
    this.#isSafe = isSafe;
  }

  add(item: Item): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#waiting.push({ item, resolve, reject });
    if (!this.#isWorking) {
      this.#isWorking = true;
      // Calls within the same turn of the event loop join the batch.
      queueMicrotask(() => void this.#run());
    }
    return promise;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) await this.#do(this.#waiting.splice(0, this.#itemsMax));
    this.#isWorking = false;
  }

  async #do(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.#work(batch.map(({ item }) => item));
      if (answers.length !== batch.length) throw new Error(`${batch.length} items got ${answers.length} answers`);
      batch.forEach(({ resolve }, index) => resolve(answers[index]!));
    } catch (error) {
      if (batch.length === 1 || !this.#isSafe(error)) return batch.forEach(({ reject }) => reject(error));
      // Only the bad item fails.
      for (const one of batch) await this.#do([one]);
    }
  }
}
