interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Does many calls at once: those that arrive while an earlier batch is under way are done together when it has ended.
 *
 * Nobody waits for a batch to fill: a call that comes alone is done alone and at once.
 */
export class Batcher<Item, Answer> {
  readonly #work: (items: readonly Item[]) => Promise<readonly Answer[]>;
  readonly #itemsMax: number;
  readonly #waiting: Waiting<Item, Answer>[] = [];
  #working = false;

  /** @param work Answers each item, in their order; a batch of several that it rejects is tried again one by one. */
  constructor(work: (items: readonly Item[]) => Promise<readonly Answer[]>, itemsMax: number) {
    this.#work = work;
    this.#itemsMax = itemsMax;
  }

  add(item: Item): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#waiting.push({ item, resolve, reject });
    if (!this.#working) {
      this.#working = true;
      // Whoever else calls before this turn ends comes along.
      queueMicrotask(() => void this.#run());
    }
    return promise;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) await this.#do(this.#waiting.splice(0, this.#itemsMax));
    this.#working = false;
  }

  async #do(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.#work(batch.map(({ item }) => item));
      if (answers.length !== batch.length) throw new Error(`${batch.length} items got ${answers.length} answers`);
      batch.forEach(({ resolve }, index) => resolve(answers[index]!));
    } catch (error) {
      if (batch.length === 1) return batch[0]!.reject(error);
      // One bad item must not be the end of the others.
      for (const one of batch) await this.#do([one]);
    }
  }
}

/** Lets everybody who asks for the same thing at the same time wait for one answer. */
export class InFlight<Answer> {
  readonly #pending = new Map<string, Promise<Answer>>();

  /** The answer that is already on its way under the key, or the one that `make` gives. */
  get(key: string, make: () => Promise<Answer>): Promise<Answer> {
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    const made = make().finally(() => this.#pending.delete(key));
    this.#pending.set(key, made);
    return made;
  }
}
