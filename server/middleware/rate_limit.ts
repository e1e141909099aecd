import type { Context as HonoContext, MiddlewareHandler } from "hono";
import { AppError } from "../../routers/errors.ts";
import { addressGroup } from "../client_address.ts";
import type { ServerEnv } from "../context.ts";
import type { KnownCallers } from "./known_callers.ts";

const WINDOW_MS = 60_000;
const SIGN_IN = "/api/auth/sign-in/email";
const SIGN_UP = "/api/auth/sign-up/email";

/** How much is let through a minute; in this process, so that each of several counts for itself. */
export interface RateLimits {
  /** Requests from one address, whoever makes them. */
  readonly addressRequestsMax: number;
  /** Requests of one signed-in user, from wherever. */
  readonly userRequestsMax: number;
  /** Attempts from one address to sign in or up, or to do anything else that a password is checked for. */
  readonly addressSignInsMax: number;
  /** Failed attempts to sign in to one account: of all strangers together, and of each device and address that is known from before. */
  readonly accountFailuresMax: number;
}

interface Window {
  count: number;
  readonly endsAtMs: number;
}

/** Counts by key in windows of a minute that begin with a key's first use. */
export class RateLimiter {
  readonly #name: string;
  readonly #countMax: number;
  // Two generations: what was not used for a whole window is dropped with its generation, without a timer or a search.
  #recent = new Map<string, Window>();
  #older = new Map<string, Window>();
  #turnAtMs = 0;

  /** @param name In the headers, for clients to tell policies apart. */
  constructor(name: string, countMax: number) {
    this.#name = name;
    this.#countMax = countMax;
  }

  /**
   * Counts one more and says in RateLimit headers what is left (draft-ietf-httpapi-ratelimit-headers-10).
   *
   * @throws AppError RATE_LIMITED when it is one too many.
   */
  take(c: HonoContext<ServerEnv>, key: string, nowMs = performance.now()): void {
    const window = this.#find(key, nowMs);
    window.count++;
    const seconds = Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000));
    c.header("ratelimit-policy", `"${this.#name}";q=${this.#countMax};w=${WINDOW_MS / 1000}`);
    c.header("ratelimit", `"${this.#name}";r=${Math.max(0, this.#countMax - window.count)};t=${seconds}`);
    if (window.count > this.#countMax) this.#refuse(seconds);
  }

  /**
   * Counts one more without a word in the headers.
   *
   * @returns What takes the count back, for when it turns out not to be of what is limited.
   * @throws AppError RATE_LIMITED when nothing is left; it is not counted then.
   */
  hold(key: string, nowMs = performance.now()): () => void {
    const window = this.#find(key, nowMs);
    if (window.count >= this.#countMax) this.#refuse((window.endsAtMs - nowMs) / 1000);
    window.count++;
    return () => window.count--;
  }

  #find(key: string, nowMs: number): Window {
    if (nowMs >= this.#turnAtMs) {
      this.#older = nowMs >= this.#turnAtMs + WINDOW_MS ? new Map() : this.#recent;
      this.#recent = new Map();
      this.#turnAtMs = nowMs + WINDOW_MS;
    }
    const known = this.#recent.get(key) ?? this.#older.get(key);
    const window = known !== undefined && known.endsAtMs > nowMs ? known : { count: 0, endsAtMs: nowMs + WINDOW_MS };
    this.#recent.set(key, window);
    return window;
  }

  #refuse(retryAfterSeconds: number): never {
    const message = `Cannot answer: more than ${this.#countMax} a minute are too many (limit "${this.#name}")`;
    throw new AppError("RATE_LIMITED", message, { retryAfterSeconds });
  }
}

/** Slows down who asks too often from one address. */
export function limitAddresses({ addressRequestsMax }: RateLimits): MiddlewareHandler<ServerEnv> {
  const requests = new RateLimiter("address", addressRequestsMax);
  return async (c, next) => {
    requests.take(c, addressGroup(c.get("clientAddress")));
    await next();
  };
}

/** Slows down a signed-in user who asks too often; `context` must be there. */
export function limitUsers({ userRequestsMax }: RateLimits): (c: HonoContext<ServerEnv>) => void {
  const requests = new RateLimiter("user", userRequestsMax);
  return (c) => {
    const { user } = c.get("context");
    if (user !== null) requests.take(c, user.id);
  };
}

/**
 * Slows down the guessing of passwords: from one address to any account, and to one account from any address. Who is known from before
 * has attempts of his own, which no stranger can use up.
 */
export function limitSignIns(limits: RateLimits, callers: KnownCallers): MiddlewareHandler<ServerEnv> {
  const attempts = new RateLimiter("sign-in", limits.addressSignInsMax);
  const failures = new RateLimiter("account", limits.accountFailuresMax);
  return async (c, next) => {
    if (c.req.method !== "POST" || c.req.path === "/api/auth/sign-out") return await next();
    attempts.take(c, addressGroup(c.get("clientAddress")));
    const { path } = c.req;
    const account = path === SIGN_IN || path === SIGN_UP ? await readAccount(c.req.raw.clone()) : undefined;
    if (account === undefined) return await next();
    // Held before the password is looked at: many attempts at once must not be all the first.
    const forgive = path === SIGN_IN ? failures.hold(await callers.find(c, account)) : undefined;
    await next();
    if (c.res.status !== 401) forgive?.();
    if (c.res.status === 200 && c.res.headers.has("set-cookie")) await callers.remember(c, account);
  };
}

async function readAccount(request: Request): Promise<string | undefined> {
  try {
    const body: unknown = await request.json();
    const email: unknown = typeof body === "object" && body !== null && "email" in body ? body.email : undefined;
    return typeof email === "string" ? email.trim().toLowerCase().slice(0, 320) : undefined;
  } catch {
    // Whatever it is, it signs nobody in.
    return undefined;
  }
}
