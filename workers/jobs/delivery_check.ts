import { getLogger } from "@logtape/logtape";
import { v7 as uuidv7 } from "uuid";

const log = getLogger(["hindcast", "queue"]);

// A database that is this slow to notify is asked for changes meanwhile, which does no harm.
const ARRIVAL_MS_MAX = 2_000;
const LOOK_MS = 500;
// No topic of a change may begin so (see changes.ts).
const PREFIX = "delivery ";

/**
 * Finds out whether notifications arrive, and has subscribers look for changes by themselves where they do not: a pooler that changes
 * the session after each transaction, as PgBouncer does with `pool_mode = transaction`, loses them without an error.
 */
export class DeliveryCheck {
  readonly #topic = `${PREFIX}${uuidv7()}`;
  readonly #send: (topic: string) => Promise<void>;
  readonly #look: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLooking = false;

  /**
   * @param send Notifies all processes of a topic, on another connection than the listener's.
   * @param look Called every half second while notifications do not arrive.
   */
  constructor(send: (topic: string) => Promise<void>, look: () => void) {
    this.#send = send;
    this.#look = look;
  }

  /** Sends a notification to itself. Called after each connect of the listener. */
  begin(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#miss(), ARRIVAL_MS_MAX);
    // A connection that is lost here is the pool's to report; the listener's own begins a check again.
    this.#send(this.#topic).catch(() => {});
  }

  /** @returns True for a topic of a check, this process's or another's. */
  take(topic: string): boolean {
    if (topic === this.#topic) this.close();
    return topic.startsWith(PREFIX);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#isLooking = false;
  }

  #miss(): void {
    if (!this.#isLooking) {
      this.#isLooking = true;
      log.warn(
        "The database's notifications do not arrive, as behind a pooler that shares sessions: changes are looked for every {seconds} s",
        { seconds: LOOK_MS / 1000 },
      );
    }
    this.#look();
    this.#timer = setTimeout(() => this.#miss(), LOOK_MS);
  }
}
