// Most searches end within it. A user's next one then begins at once, and not when the queue is looked at again.
const WAIT_MS = 250;

/** Lets each user do one thing at a time in this process. */
export class OwnerTurns {
  readonly #held = new Map<string, Promise<void>>();

  /** Takes a user's turn, after a short wait where it is taken. @returns Gives the turn back; null where it stayed taken. */
  async take(ownerId: string): Promise<(() => void) | null> {
    const before = this.#held.get(ownerId);
    if (before !== undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, WAIT_MS);
      await Promise.race([before, promise]);
      clearTimeout(timer);
      // Several may have waited for the same turn.
      if (this.#held.has(ownerId)) return null;
    }
    const turn = Promise.withResolvers<void>();
    this.#held.set(ownerId, turn.promise);
    return () => {
      this.#held.delete(ownerId);
      turn.resolve();
    };
  }
}
