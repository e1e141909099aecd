import type { MiddlewareHandler } from "hono";
import { AppError } from "../../routers/errors.ts";
import { addressGroup } from "../client_address.ts";
import type { ServerEnv } from "../context.ts";

/** Limits on answers that are sent while their client reads; each holds a month of candles and its text. */
export const STREAM_LIMITS = { addressMax: 32, max: 128, stallMs: 30_000 };

const RETRY_AFTER_SECONDS = 1;

/**
 * Bounds what clients that do not read cost: so many answers under way for one address and in all, and an end to one of which nothing
 * has been read for a time.
 *
 * @throws AppError RATE_LIMITED or UNAVAILABLE
 */
export function limitStreams(limits = STREAM_LIMITS): MiddlewareHandler<ServerEnv> {
  const open = new Map<string, number>();
  let total = 0;
  const take = (address: string): () => void => {
    const own = open.get(address) ?? 0;
    if (own >= limits.addressMax) throw tooMany("RATE_LIMITED", `${own} answers to this address`);
    if (total >= limits.max) throw tooMany("UNAVAILABLE", `${total} answers`);
    open.set(address, own + 1);
    total++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      total--;
      const left = (open.get(address) ?? 0) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    };
  };
  return async (c, next) => {
    const release = take(addressGroup(c.get("clientAddress")));
    await next();
    const { body } = c.res;
    if (body === null) release();
    else c.res = new Response(watch(body, limits.stallMs, release), c.res);
  };
}

function tooMany(code: "RATE_LIMITED" | "UNAVAILABLE", what: string): AppError {
  const message = `Cannot send another answer now: ${what} are under way; retry in ${RETRY_AFTER_SECONDS} s`;
  return new AppError(code, message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Passes a body on. When nothing has been read for the time, the source is given up and the answer breaks off. */
function watch(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  stallMs: number,
  onEnd: () => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(timer);
    onEnd();
  };
  const expectRead = (controller: ReadableStreamDefaultController) => {
    timer = setTimeout(() => {
      const reason = new Error(`the client has read nothing for ${stallMs / 1000} s`);
      controller.error(reason);
      end();
      // A source that fails while it ends has nobody left to tell.
      reader.cancel(reason).catch(() => {});
    }, stallMs);
  };
  return new ReadableStream({
    start: expectRead,
    async pull(controller) {
      clearTimeout(timer);
      const { value, done } = await reader.read().catch((error) => {
        end();
        throw error;
      });
      if (done) {
        end();
        return controller.close();
      }
      controller.enqueue(value);
      expectRead(controller);
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}
