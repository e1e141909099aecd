import type { Context as HonoContext, MiddlewareHandler } from "hono";
import { AppError } from "../../routers/common/errors.ts";
import { addressGroup } from "../requests/client_address.ts";
import type { ServerEnv } from "../requests/context.ts";
import { SignInQueue } from "./sign_in_queue.ts";
import type { DeviceCookies } from "./device_cookies.ts";

const WINDOW_MS = 60_000;
const SIGN_IN = "/api/auth/sign-in/email";
const SIGN_UP = "/api/auth/sign-up/email";
// A program asks again and again until a person has answered. It checks no password, and its code is as random as a key.
const DEVICE_POLL = "/api/auth/device/token";
// These routes ask for the password of the session's own account.
const OWN_PASSWORD: ReadonlySet<string> = new Set([
  "/api/auth/verify-password",
  "/api/auth/change-password",
  "/api/auth/delete-user",
]);

/** Requests a minute that this process answers; each of several processes counts for itself. */
export interface RateLimits {
  /** Requests from one address. */
  readonly addressRequestsMax: number;
  /** Requests of one signed-in user. */
  readonly userRequestsMax: number;
  /** Attempts from one address to sign in, to sign up, or to do anything else that checks a password. */
  readonly addressSignInsMax: number;
  /** Failed attempts to sign in to one account: of all strangers together, and of each known device or address. */
  readonly accountFailuresMax: number;
}

interface Window {
  count: number;
  readonly endsAtMs: number;
}

/** Counts by key, in windows of a minute that start with the key's first use. */
export class RateLimiter {
  readonly #name: string;
  readonly #countMax: number;
  // Two generations: a key that is unused for a whole window is dropped with its generation, without a timer or a search.
  #recent = new Map<string, Window>();
  #older = new Map<string, Window>();
  #nextGenerationAtMs = 0;

  /** @param name The policy's name in the headers. */
  constructor(name: string, countMax: number) {
    this.#name = name;
    this.#countMax = countMax;
  }

  /**
   * Counts one request, and sends the remaining number in RateLimit headers (draft-ietf-httpapi-ratelimit-headers-10). Each call of
   * a tRPC batch counts as a request.
   *
   * @throws AppError RATE_LIMITED above the limit.
   */
  take(c: HonoContext<ServerEnv>, key: string, nowMs = performance.now()): void {
    const window = this.#find(key, nowMs);
    window.count += countCalls(c.req.path);
    const seconds = Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000));
    c.header("ratelimit-policy", `"${this.#name}";q=${this.#countMax};w=${WINDOW_MS / 1000}`);
    c.header("ratelimit", `"${this.#name}";r=${Math.max(0, this.#countMax - window.count)};t=${seconds}`);
    if (window.count > this.#countMax) this.#refuse(seconds);
  }

  /**
   * Counts one attempt, without headers.
   *
   * @returns A function that takes the count back.
   * @throws AppError RATE_LIMITED at the limit; the attempt is not counted then.
   */
  hold(key: string, nowMs = performance.now()): () => void {
    const window = this.#find(key, nowMs);
    if (window.count >= this.#countMax) this.#refuse((window.endsAtMs - nowMs) / 1000);
    window.count++;
    return () => window.count--;
  }

  #find(key: string, nowMs: number): Window {
    if (nowMs >= this.#nextGenerationAtMs) {
      this.#older = nowMs >= this.#nextGenerationAtMs + WINDOW_MS ? new Map() : this.#recent;
      this.#recent = new Map();
      this.#nextGenerationAtMs = nowMs + WINDOW_MS;
    }
    const known = this.#recent.get(key) ?? this.#older.get(key);
    const window = known !== undefined && known.endsAtMs > nowMs ? known : { count: 0, endsAtMs: nowMs + WINDOW_MS };
    this.#recent.set(key, window);
    return window;
  }

  #refuse(retryAfterSeconds: number): never {
    const wait = Math.ceil(retryAfterSeconds);
    const message =
      `Cannot answer: the limit "${this.#name}" of ${this.#countMax} a minute is used up; retry in ${wait} s`;
    throw new AppError("RATE_LIMITED", message, { retryAfterSeconds });
  }
}

/** tRPC separates the calls of a batch by commas in the path, which may be escaped. */
function countCalls(path: string): number {
  return path.startsWith("/trpc/") ? path.split(/,|%2c/i).length : 1;
}

/** Limits the requests from one address. */
export function limitAddresses({ addressRequestsMax }: RateLimits): MiddlewareHandler<ServerEnv> {
  const requests = new RateLimiter("address", addressRequestsMax);
  return async (c, next) => {
    requests.take(c, addressGroup(c.get("clientAddress")));
    await next();
  };
}

/** Limits the requests of one signed-in user; the request must have its `context`. */
export function limitUsers({ userRequestsMax }: RateLimits): (c: HonoContext<ServerEnv>) => void {
  const requests = new RateLimiter("user", userRequestsMax);
  return (c) => {
    const { user } = c.get("context");
    if (user !== null) requests.take(c, user.id);
  };
}

/** The two steps at which requests that check or set a password are limited. */
interface SignInLimits {
  /** Refuses the surplus of an address before its body is read: a flood must cost as little as can be. */
  readonly refuseSurplus: MiddlewareHandler<ServerEnv>;
  /** Waits for the request's turn. Its body must have arrived, since one that stalls would keep its place from others. */
  readonly limit: MiddlewareHandler<ServerEnv>;
}

/**
 * Limits the guessing of passwords: from one address to any account, and for one account from any address. Known devices have
 * attempts of their own, which no stranger can use up.
 */
export function limitSignIns(
  limits: RateLimits,
  devices: DeviceCookies,
  findUserId: (headers: Headers) => Promise<string | undefined>,
): SignInLimits {
  const attempts = new RateLimiter("sign-in", limits.addressSignInsMax);
  const failures = new RateLimiter("account", limits.accountFailuresMax);
  const queue = new SignInQueue();
  const limit = async (c: HonoContext<ServerEnv>, next: () => Promise<void>) => {
    const { path } = c.req;
    if (OWN_PASSWORD.has(path)) {
      // A stolen session must not be a way to guess its password without end.
      const forgive = failures.hold(`session ${await findUserId(c.req.raw.headers)}`);
      await next();
      if (c.res.status !== 400) forgive();
      return;
    }
    const account = path === SIGN_IN || path === SIGN_UP ? readAccount(c.get("body")) : undefined;
    if (account === undefined) return await next();
    // Counted before the password is checked, so that parallel attempts count as well.
    const forgive = path === SIGN_IN ? failures.hold(await devices.findAttemptKey(c, account)) : undefined;
    await next();
    if (c.res.status !== 401) forgive?.();
    if (c.res.status === 200 && c.res.headers.has("set-cookie")) await devices.remember(c, account);
  };
  const isExempt = ({ req }: HonoContext) =>
    req.method !== "POST" || req.path === "/api/auth/sign-out" || req.path === DEVICE_POLL;
  return {
    async refuseSurplus(c, next) {
      if (isExempt(c)) return await next();
      const address = addressGroup(c.get("clientAddress"));
      attempts.take(c, address);
      queue.requireRoom(address);
      await next();
    },
    async limit(c, next) {
      if (isExempt(c)) return await next();
      await queue.run(addressGroup(c.get("clientAddress")), () => limit(c, next));
    },
  };
}

function readAccount(body: unknown): string | undefined {
  const email: unknown = typeof body === "object" && body !== null && "email" in body ? body.email : undefined;
  return typeof email === "string" ? email.trim().toLowerCase().slice(0, 320) : undefined;
}
