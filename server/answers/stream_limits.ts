import { AppError } from "../../routers/common/errors.ts";
import { Turns } from "./turns.ts";
import { UNREAD_LIMITS, type UnreadEvent, UnreadEvents } from "./unread_events.ts";

/** Answers that are sent while their client reads. Each holds some megabytes: a month of candles and its text, or two pages of a list. */
export const ANSWER_LIMITS = { addressMax: 32, max: 128 };
/** Event streams, which live as long as their client wants. */
export const EVENT_LIMITS = { addressMax: 128, userMax: 128, max: 512 };

/** The limits of one kind of stream. */
type Limits = typeof ANSWER_LIMITS;

/** The receiver of an answer: the key of an address, and the user where one is signed in. */
export interface Receiver {
  readonly address: string;
  readonly userId: string | null;
}

// Their first pieces read months of candles from the database: the rest of its connections is for everybody else.
const BEGINNING_LIMITS = { addressMax: 2, max: Infinity };

const RETRY_AFTER_SECONDS = 1;
// A burst of short lists is over sooner.
const WAIT_MS = 5_000;
const WAITING_MAX = 1_000;
// The bytes that the system's buffers take for a client that does not read.
const SHORT_BYTES = 65_536;
// A slow client must be able to read a piece before it counts as one that does not read.
const PIECE_BYTES = 262_144;

/** Streams under way, counted for each address and in all. */
class Slots {
  readonly #what: string;
  readonly #whose: string;
  readonly #limits: Limits;
  readonly #open = new Map<string, number>();
  readonly #waiting = new Set<{ readonly address: string; start(release: () => void): void }>();
  #total = 0;

  constructor(what: string, limits: Limits, whose = "to this address") {
    this.#what = what;
    this.#whose = whose;
    this.#limits = limits;
  }

  /** Takes a slot. @returns A function that gives it back. @throws AppError RATE_LIMITED or UNAVAILABLE */
  take(address: string): () => void {
    const { addressMax, max } = this.#limits;
    const own = this.#open.get(address) ?? 0;
    if (own >= addressMax) throw tooMany("RATE_LIMITED", `${own} ${this.#what} ${this.#whose}`);
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

  /** Like take(), but waits for a slot to be given back, for the time if there is one. */
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

/** Bounds the cost of clients that do not read: a number of streams, a number of bytes of events, and an end to those that stall. */
export class StreamLimits {
  readonly #answers: Slots;
  readonly #events: Slots;
  readonly #userEvents: Slots;
  readonly #unread: UnreadEvents;
  readonly #beginnings = new Slots("beginnings", BEGINNING_LIMITS);
  readonly #stallMs: number;
  readonly #waitMs: number;
  // Many streams that begin at once would make their first pieces in one turn, while everybody else waits.
  readonly #turns = new Turns();

  /** @param options `stallMs`: the time after which a stream ends whose client reads nothing. */
  constructor(
    options: {
      stallMs: number;
      answers?: Limits;
      events?: typeof EVENT_LIMITS;
      unread?: typeof UNREAD_LIMITS;
      waitMs?: number;
    },
  ) {
    const events = options.events ?? EVENT_LIMITS;
    this.#answers = new Slots("answers", options.answers ?? ANSWER_LIMITS);
    this.#events = new Slots("event streams", events);
    this.#userEvents = new Slots("event streams", { addressMax: events.userMax, max: Infinity }, "of yours");
    this.#unread = new UnreadEvents(options.unread ?? UNREAD_LIMITS);
    this.#stallMs = options.stallMs;
    this.#waitMs = options.waitMs ?? WAIT_MS;
  }

  /** Makes an answer that may be long, once it is its turn. @throws AppError RATE_LIMITED or UNAVAILABLE, and the errors of `work`. */
  async answer(receiver: Receiver, work: () => Promise<Response>): Promise<Response> {
    const release = await this.#answers.takeInTurn(receiver.address, this.#waitMs);
    try {
      const response = await work();
      if (isLong(response) && !isEventStream(response)) return this.#watch(receiver, response, release);
      release();
      return await this.bound(receiver, response);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Bounds a response that is made already. @throws AppError RATE_LIMITED or UNAVAILABLE; the response is given up then. */
  async bound(receiver: Receiver, response: Response): Promise<Response> {
    if (!isLong(response)) return response;
    try {
      const release = isEventStream(response) ? this.#takeEvents(receiver) : this.#answers.take(receiver.address);
      return this.#watch(receiver, response, release);
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
  }

  #takeEvents({ address, userId }: Receiver): () => void {
    const releaseUser = userId === null ? () => {} : this.#userEvents.take(userId);
    try {
      const release = this.#events.take(address);
      return () => {
        release();
        releaseUser();
      };
    } catch (error) {
      releaseUser();
      throw error;
    }
  }

  #watch({ address }: Receiver, response: Response, onEnd: () => void): Response {
    const isEvents = isEventStream(response);
    return watch(response, {
      address,
      stallMs: this.#stallMs,
      nextTurn: () => this.#turns.next(),
      begin: isEvents ? undefined : () => this.#beginnings.takeInTurn(address),
      unread: isEvents ? this.#unread : undefined,
      onEnd,
    });
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
  readonly address: string;
  readonly stallMs: number;
  /** Waits for the first piece's turn. @returns A function to call once the piece is there. */
  readonly begin: (() => Promise<() => void>) | undefined;
  /** Counts long events; undefined for other answers. */
  readonly unread: UnreadEvents | undefined;
  /** Waits for a piece's turn. */
  nextTurn(): Promise<void>;
  onEnd(): void;
}

/** Passes a body on in pieces. When nothing has been read for the time, the source is given up and the answer breaks off. */
function watch(response: Response, { address, stallMs, begin, unread, nextTurn, onEnd }: WatchOptions): Response {
  const reader = response.body!.getReader();
  let rest: Uint8Array<ArrayBuffer> | undefined;
  let event: UnreadEvent | undefined;
  let isBegun = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isEnded = false;
  const forgetEvent = () => {
    if (event !== undefined) unread?.delete(event);
    event = undefined;
  };
  const end = () => {
    isEnded = true;
    rest = undefined;
    clearTimeout(timer);
    forgetEvent();
    onEnd();
  };
  const breakOff = (controller: ReadableStreamDefaultController, reason: Error) => {
    controller.error(reason);
    end();
    // A source that fails while it ends has nobody left to tell.
    reader.cancel(reason).catch(() => {});
  };
  const expectRead = (controller: ReadableStreamDefaultController) => {
    // The server cancels within enqueue() when the client has left.
    if (isEnded) return;
    timer = setTimeout(() => {
      breakOff(controller, new Error(`the client has read nothing for ${stallMs / 1000} s`));
    }, stallMs);
    if (event !== undefined) unread?.touch(event);
  };
  const body = new ReadableStream<Uint8Array>({
    start: expectRead,
    async pull(controller) {
      clearTimeout(timer);
      if (rest === undefined) {
        forgetEvent();
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
        const bytes = value.byteLength;
        if (bytes > SHORT_BYTES) event = { address, bytes, giveUp: (reason) => breakOff(controller, reason) };
      }
      const piece = rest.subarray(0, PIECE_BYTES);
      rest = rest.byteLength > PIECE_BYTES ? rest.subarray(PIECE_BYTES) : undefined;
      controller.enqueue(piece);
      expectRead(controller);
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(body, response);
}
