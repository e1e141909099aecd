import { AppError } from "../../routers/errors.ts";
import { Turns } from "../turns.ts";

/** Answers that are sent while their client reads. Each holds some megabytes: a month of candles and its text, or two pages of a list. */
export const ANSWER_LIMITS = { addressMax: 32, max: 128 };
/** Event streams, which live as long as their client wants. Each holds a record. */
export const EVENT_LIMITS = { addressMax: 128, max: 512 };

/** The limits of one kind of stream. */
type Limits = typeof ANSWER_LIMITS;

// Their first pieces read months of candles from the database: the rest of its connections is for everybody else.
const BEGINNING_LIMITS = { addressMax: 2, max: Infinity };

const RETRY_AFTER_SECONDS = 1;
// A burst of short lists is over sooner.
const WAIT_MS = 5_000;
const WAITING_MAX = 1_000;
// The system's buffers take so much from a client that does not read.
const SHORT_BYTES = 65_536;
// A slow client must be able to read a piece before it counts as one that does not read.
const PIECE_BYTES = 262_144;

/** Streams under way, counted for each address and in all. */
class Slots {
  readonly #what: string;
  readonly #limits: Limits;
  readonly #open = new Map<string, number>();
  readonly #waiting = new Set<{ readonly address: string; start(release: () => void): void }>();
  #total = 0;

  constructor(what: string, limits: Limits) {
    this.#what = what;
    this.#limits = limits;
  }

  /** Takes a slot. @returns A function that gives it back. @throws AppError RATE_LIMITED or UNAVAILABLE */
  take(address: string): () => void {
    const { addressMax, max } = this.#limits;
    const own = this.#open.get(address) ?? 0;
    if (own >= addressMax) throw tooMany("RATE_LIMITED", `${own} ${this.#what} to this address`);
    if (this.#total >= max) throw tooMany("UNAVAILABLE", `${this.#total} ${this.#what}`);
    this.#open.set(address, own + 1);
    this.#total++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#giveBack(address);
    };
  }

  /** As take(), but waits for a slot to be given back, for the time if there is one. */
  async takeInTurn(address: string, waitMs?: number): Promise<() => void> {
    if (this.#hasRoom(address) || this.#waiting.size >= WAITING_MAX) return this.take(address);
    const turn = Promise.withResolvers<() => void>();
    const waiter = { address, start: turn.resolve };
    this.#waiting.add(waiter);
    const timer = waitMs === undefined ? undefined : setTimeout(() => {
      this.#waiting.delete(waiter);
      // There may be room for it that an earlier one could not use.
      turn.resolve(Promise.try(() => this.take(address)));
    }, waitMs);
    try {
      return await turn.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  #giveBack(address: string): void {
    this.#total--;
    const left = (this.#open.get(address) ?? 0) - 1;
    if (left > 0) this.#open.set(address, left);
    else this.#open.delete(address);
    for (const waiter of this.#waiting) {
      if (!this.#hasRoom(waiter.address)) continue;
      this.#waiting.delete(waiter);
      return waiter.start(this.take(waiter.address));
    }
  }

  #hasRoom(address: string): boolean {
    return this.#total < this.#limits.max && (this.#open.get(address) ?? 0) < this.#limits.addressMax;
  }
}

/** Bounds the cost of clients that do not read: a number of streams for each address and in all, and an end to those that stall. */
export class StreamLimits {
  readonly #answers: Slots;
  readonly #events: Slots;
  readonly #beginnings = new Slots("beginnings", BEGINNING_LIMITS);
  readonly #stallMs: number;
  readonly #waitMs: number;
  // Many streams that begin at once would make their first pieces in one turn, while everybody else waits.
  readonly #turns = new Turns();

  /** @param options `stallMs`: the time after which a stream ends whose client reads nothing. */
  constructor(options: { stallMs: number; answers?: Limits; events?: Limits; waitMs?: number }) {
    this.#answers = new Slots("answers", options.answers ?? ANSWER_LIMITS);
    this.#events = new Slots("event streams", options.events ?? EVENT_LIMITS);
    this.#stallMs = options.stallMs;
    this.#waitMs = options.waitMs ?? WAIT_MS;
  }

  /**
   * Makes an answer that may be long, once it is its turn.
   *
   * @param address Whose it is.
   * @throws AppError RATE_LIMITED or UNAVAILABLE, and the errors of `work`.
   */
  async answer(address: string, work: () => Promise<Response>): Promise<Response> {
    const release = await this.#answers.takeInTurn(address, this.#waitMs);
    try {
      const response = await work();
      if (isLong(response) && !isEventStream(response)) return this.#watch(address, response, release);
      release();
      return await this.bound(address, response);
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Bounds a response that is made already.
   *
   * @throws AppError RATE_LIMITED or UNAVAILABLE; the response is given up then.
   */
  async bound(address: string, response: Response): Promise<Response> {
    if (!isLong(response)) return response;
    try {
      return this.#watch(address, response, (isEventStream(response) ? this.#events : this.#answers).take(address));
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
  }

  #watch(address: string, response: Response, onEnd: () => void): Response {
    const begin = isEventStream(response) ? undefined : () => this.#beginnings.takeInTurn(address);
    return watch(response, { stallMs: this.#stallMs, nextTurn: () => this.#turns.next(), begin, onEnd });
  }
}

/** A response of JSON text with its length, so that a short one need not be watched. */
export function sendJson(text: string, init: Pick<ResponseInit, "headers"> = {}): Response {
  const bytes = new TextEncoder().encode(text);
  const headers = new Headers(init.headers);
  headers.set("content-type", "application/json");
  headers.set("content-length", String(bytes.byteLength));
  return new Response(bytes, { headers });
}

/** The same answer with its length, unless it is a stream or has no body. */
export async function measure(answer: Response): Promise<Response> {
  if (isEventStream(answer) || answer.headers.has("transfer-encoding") || answer.body === null) return answer;
  const bytes = await answer.arrayBuffer();
  const headers = new Headers(answer.headers);
  headers.set("content-length", String(bytes.byteLength));
  return new Response(bytes, { status: answer.status, headers });
}

function isLong(response: Response): boolean {
  const length = response.headers.get("content-length");
  return (length === null || Number(length) > SHORT_BYTES) && response.body !== null;
}

function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

function tooMany(code: "RATE_LIMITED" | "UNAVAILABLE", what: string): AppError {
  const message = `Cannot send another answer now: ${what} are under way; retry in ${RETRY_AFTER_SECONDS} s`;
  return new AppError(code, message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

interface WatchOptions {
  readonly stallMs: number;
  /** Waits for the first piece's turn. @returns A function to call once the piece is there. */
  readonly begin: (() => Promise<() => void>) | undefined;
  /** Waits for a piece's turn. */
  nextTurn(): Promise<void>;
  onEnd(): void;
}

/** Passes a body on in pieces. When nothing has been read for the time, the source is given up and the answer breaks off. */
function watch(response: Response, { stallMs, begin, nextTurn, onEnd }: WatchOptions): Response {
  const reader = response.body!.getReader();
  let rest: Uint8Array<ArrayBuffer> | undefined;
  let isBegun = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isEnded = false;
  const end = () => {
    isEnded = true;
    clearTimeout(timer);
    onEnd();
  };
  const expectRead = (controller: ReadableStreamDefaultController) => {
    // The server cancels within enqueue() when the client has left.
    if (isEnded) return;
    timer = setTimeout(() => {
      const reason = new Error(`the client has read nothing for ${stallMs / 1000} s`);
      controller.error(reason);
      end();
      // A source that fails while it ends has nobody left to tell.
      reader.cancel(reason).catch(() => {});
    }, stallMs);
  };
  const body = new ReadableStream<Uint8Array>({
    start: expectRead,
    async pull(controller) {
      clearTimeout(timer);
      if (rest === undefined) {
        const begun = isBegun ? undefined : await begin?.();
        isBegun = true;
        await nextTurn();
        const { value, done } = await reader.read().catch((error) => {
          end();
          throw error;
        }).finally(begun);
        if (done) {
          end();
          return controller.close();
        }
        rest = value;
      }
      controller.enqueue(rest.subarray(0, PIECE_BYTES));
      rest = rest.byteLength > PIECE_BYTES ? rest.subarray(PIECE_BYTES) : undefined;
      expectRead(controller);
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(body, response);
}
