import { Buffer } from "node:buffer";
import type { Context as HonoContext, MiddlewareHandler } from "hono";
import { AppError, type Issue, quote, unstorable } from "../../routers/common/errors.ts";
import { NO_LINE, PLAIN } from "../../routers/common/plain_text.ts";
import { DEPTH_MAX, findUnstorable } from "../../routers/common/text.ts";
import type { ServerEnv } from "../requests/context.ts";

/** Largest body, in bytes. */
export const BODY_BYTES_MAX = 6 * 1024 * 1024;
/** Largest part of a body that is not an uploaded artifact (`content_base64`). */
export const PLAIN_BYTES_MAX = 1024 * 1024;
/** Largest body of a stranger, and of a request under /api/auth. */
export const SMALL_BODY_BYTES_MAX = 16 * 1024;
/** Most characters of a user's name. */
export const USER_NAME_LENGTH_MAX = 200;

/**
 * Reads a JSON body.
 *
 * @param options `isOptional`: a missing body is read as `undefined`. `stallMs`: see `untilStalled`. `bytesMax`: of the body.
 * @returns The parsed value, at most 32 levels deep.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT or VALIDATION_FAILED, in this order; where the body is
 * optional, the size is checked before the type.
 */
export async function readJson(
  c: HonoContext,
  { isOptional, stallMs, bytesMax = BODY_BYTES_MAX }: {
    readonly isOptional: boolean;
    readonly stallMs: number;
    readonly bytesMax?: number;
  },
): Promise<unknown> {
  if (!isOptional) requireType(c, "application/json");
  const bytes = await readBytes(c.req.raw, bytesMax, stallMs);
  // curl declares even an empty body to be a form.
  if (isOptional && bytes.byteLength === 0) return undefined;
  if (isOptional) requireType(c, "application/json");
  const value = parseJson(bytes);
  requirePlain(bytes, value);
  if (!value.parsed) {
    throw new AppError("VALIDATION_FAILED", `Cannot read the body as JSON: ${value.reason}`, {
      issues: [{ path: "", message: value.reason }],
    });
  }
  return value.value;
}

/** Reads a form of a page or a program. @throws AppError as `readJson` does. */
export async function readForm(
  c: HonoContext,
  { stallMs, bytesMax }: { readonly stallMs: number; readonly bytesMax: number },
): Promise<URLSearchParams> {
  requireType(c, "application/x-www-form-urlencoded");
  return new URLSearchParams(new TextDecoder().decode(await readBytes(c.req.raw, bytesMax, stallMs)));
}

/** @throws AppError UNSUPPORTED_MEDIA_TYPE unless the body has one of these media types, with or without parameters. */
export function requireType(c: HonoContext, ...wanted: readonly string[]): void {
  const type = c.req.header("content-type");
  if (wanted.includes(type?.split(";")[0]?.trim().toLowerCase() ?? "")) return;
  const given = type === undefined ? "without a Content-Type" : `of type ${quote(type)}`;
  throw new AppError("UNSUPPORTED_MEDIA_TYPE", `Cannot read a body ${given}: send ${wanted.join(" or ")}`);
}

/**
 * The parts of a body as they arrive.
 *
 * @param stallMs The time after which a client that sends nothing is given up.
 * @throws AppError REQUEST_TIMEOUT
 */
export async function* untilStalled(
  body: ReadableStream<Uint8Array> | null,
  stallMs: number,
): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      // One for each part: a promise that outlives the parts would keep them all.
      const stalled = Promise.withResolvers<never>();
      timer = setTimeout(() => stalled.reject(bodyStalled(stallMs)), stallMs);
      const { value, done } = await Promise.race([reader.read(), stalled.promise]);
      clearTimeout(timer);
      if (done) return;
      yield value;
    }
  } finally {
    clearTimeout(timer);
    await reader.cancel();
  }
}

function bodyStalled(stallMs: number): AppError {
  return new AppError("REQUEST_TIMEOUT", `Cannot read the body: nothing more of it arrived for ${stallMs / 1000} s`);
}

async function readBytes(request: Request, bytesMax: number, stallMs: number): Promise<Uint8Array<ArrayBuffer>> {
  requireSize(request, bytesMax);
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of untilStalled(request.body, stallMs)) {
    length += part.byteLength;
    if (length > bytesMax) throw tooLarge(`more than ${bytesMax} bytes`, bytesMax);
    parts.push(part);
  }
  return Buffer.concat(parts, length);
}

/** @throws AppError PAYLOAD_TOO_LARGE where the announced length is too large. */
function requireSize(request: Request, bytesMax: number): void {
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > bytesMax) throw tooLarge(`more than ${bytesMax} bytes`, bytesMax);
}

function tooLarge(size: string, bytesMax: number): AppError {
  return new AppError("PAYLOAD_TOO_LARGE", `Cannot read a body of ${size}: at most ${bytesMax} are accepted`);
}

/**
 * Receives a user's body before tRPC reads it, and limits the part that is not an artifact. A stranger's body is not read at all.
 *
 * @param stallMs See `untilStalled`.
 * @throws AppError PAYLOAD_TOO_LARGE or REQUEST_TIMEOUT
 */
export function receiveCalls(stallMs: number): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    requireSize(c.req.raw, BODY_BYTES_MAX);
    if (c.req.method === "POST" && c.get("context").user !== null) {
      const bytes = await readBytes(c.req.raw, BODY_BYTES_MAX, stallMs);
      if (bytes.byteLength > PLAIN_BYTES_MAX) requirePlain(bytes, parseJson(bytes));
      c.req.raw = new Request(c.req.raw, { body: bytes });
    }
    await next();
  };
}

function requirePlain(bytes: Uint8Array, value: Parsed): void {
  if (bytes.byteLength <= PLAIN_BYTES_MAX) return;
  const plain = bytes.byteLength - (value.parsed ? measureArtifacts(value.value) : 0);
  if (plain > PLAIN_BYTES_MAX) throw tooLarge(`${plain} bytes, not counting content_base64`, PLAIN_BYTES_MAX);
}

type Parsed = { parsed: true; value: unknown } | { parsed: false; reason: string };

function parseJson(bytes: Uint8Array): Parsed {
  if (isTooDeep(bytes)) return { parsed: false, reason: `is nested more than ${DEPTH_MAX} levels deep` };
  try {
    return { parsed: true, value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch (error) {
    return { parsed: false, reason: error instanceof SyntaxError ? error.message : "is not UTF-8" };
  }
}

// Counted on the bytes, before anything is built from them: quotes, backslashes and brackets are single bytes in UTF-8.
function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (inString) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > DEPTH_MAX) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return false;
}

function measureArtifacts(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let bytes = 0;
  for (const [key, inner] of Object.entries(value)) {
    bytes += key === "content_base64" && typeof inner === "string" ? inner.length : measureArtifacts(inner);
  }
  return bytes;
}

/**
 * Receives a body before the authentication library, and sets it as `body`: undefined where it is no JSON.
 *
 * A body that is not declared as JSON is refused: the library reads forms too, our own checks do not. An empty body passes, since
 * curl declares one to be a form.
 *
 * @param stallMs See `untilStalled`.
 * @throws AppError PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT or UNSUPPORTED_MEDIA_TYPE
 */
export function receiveAccountBody(stallMs: number): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const { raw } = c.req;
    if (raw.body !== null) {
      const bytes = await readBytes(raw, SMALL_BODY_BYTES_MAX, stallMs);
      if (c.req.method === "POST" && bytes.byteLength > 0) requireType(c, "application/json");
      c.set("body", readLeniently(bytes));
      c.req.raw = new Request(raw, { body: bytes });
    }
    await next();
  };
}

// The library refuses a body that is not JSON.
function readLeniently(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/**
 * Refuses a JSON body with text that cannot be stored, before the authentication library, which would fail in the database, and a
 * user's name that is no plain line of bounded length, and a picture, which nothing shows.
 *
 * @throws AppError VALIDATION_FAILED
 */
export async function refuseUnstorable(c: HonoContext<ServerEnv>, next: () => Promise<void>): Promise<void> {
  const body = c.get("body");
  const issue = findUnstorable(body) ?? findRefusedProfile("", body) ??
    findRefusedProfile("/data", Reflect.get(Object(body), "data"));
  if (issue !== undefined) throw unstorable(issue);
  await next();
}

/** The fault of a user's name or picture: the library keeps any text of any length, and an object as its JSON. */
function findRefusedProfile(holder: string, profile: unknown): Issue | undefined {
  const { name, image }: { readonly name?: unknown; readonly image?: unknown } = Object(profile);
  if (image !== undefined && image !== null) {
    return { path: `${holder}/image`, message: "must be left out: accounts have no picture" };
  }
  if (name === undefined || name === null) return undefined;
  const path = `${holder}/name`;
  if (typeof name !== "string") return { path, message: "must be text" };
  if (name.length > USER_NAME_LENGTH_MAX) {
    return { path, message: `must have at most ${USER_NAME_LENGTH_MAX} characters, not ${name.length}` };
  }
  return NO_LINE.test(name) ? { path, message: PLAIN.error({ input: name }) } : undefined;
}
