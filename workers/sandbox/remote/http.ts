import { Buffer } from "node:buffer";
import http from "node:http";
import https from "node:https";
import tls from "node:tls";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { PinnedEndpoint } from "../../common/remote_task.ts";

const gunzipAsync = promisify(gunzip);
const gzipAsync = promisify(gzip);
// Compressing less than one packet saves nothing.
const GZIP_BYTES_MIN = 1400;
/** Informational answers (HTTP 1xx) before the answer itself. */
const INFORMATIONAL_MAX = 16;
// Everything that arrives counts: heads, lengths of chunks and their extensions, the body.
const RAW_BYTES_FACTOR = 2;
const RAW_BYTES_MORE = 256 * 1024;
const RAW_WATCH_MS = 50;

/** An endpoint's answer of any status. */
export interface HttpAnswer {
  readonly status: number;
  /** Decompressed, at most as long as allowed. */
  readonly body: Uint8Array;
}

/** A call without an answer. */
export class CallError extends Error {
  override readonly name = "CallError";

  /**
   * @param kind `broken`: the connection failed, and a retry may help; `timeout`; `unusable`: a retry would fail again.
   * @param message The reason, as the end of a sentence.
   */
  constructor(readonly kind: "broken" | "timeout" | "unusable", message: string) {
    super(message);
  }
}

/** Makes HTTP calls to one pinned address over connections that stay open. It never looks the name up. */
export class EndpointCaller {
  readonly #endpoint: PinnedEndpoint;
  readonly #agent: http.Agent;
  readonly #path: string;
  /** True once the endpoint has announced that it accepts gzip (RFC 7694). */
  #takesGzip = false;

  constructor(endpoint: PinnedEndpoint, connectionsMax: number) {
    const { pathname, search } = new URL(endpoint.url);
    this.#endpoint = endpoint;
    this.#path = pathname + search;
    this.#agent = endpoint.secure
      ? new SecureAgent(endpoint, connectionsMax)
      : new http.Agent({ keepAlive: true, maxSockets: connectionsMax });
  }

  /**
   * Posts JSON and reads the whole answer.
   *
   * @param limits `timeoutMs` from the call to the answer's last byte; `bytesMax` of its body, compressed and decompressed. All that
   * arrives may have twice that, and 256 KiB.
   * @throws {CallError} When no complete answer comes within the limits.
   */
  async post(
    json: string,
    limits: { readonly timeoutMs: number; readonly bytesMax: number; readonly signal: AbortSignal },
  ): Promise<HttpAnswer> {
    const plain = Buffer.from(json);
    const packed = this.#takesGzip && plain.length >= GZIP_BYTES_MIN;
    const body = packed ? await gzipAsync(plain, { level: 1 }) : plain;
    const response = await this.#send("POST", this.#headersOf(body, packed), body, limits);
    if (/\bgzip\b/i.test(headerOf(response.headers, "accept-encoding"))) this.#takesGzip = true;
    return { status: response.status, body: await unpack(response, limits.bytesMax) };
  }

  /** Gets the URL. Limits and errors as for `post`. */
  async get(
    limits: { readonly timeoutMs: number; readonly bytesMax: number; readonly signal: AbortSignal },
  ): Promise<HttpAnswer> {
    const response = await this.#send("GET", { ...this.#commonHeaders(), accept: "*/*" }, null, limits);
    return { status: response.status, body: await unpack(response, limits.bytesMax) };
  }

  /** Ends every connection. */
  close(): void {
    this.#agent.destroy();
  }

  #send(
    method: "GET" | "POST",
    headers: Record<string, string>,
    body: Uint8Array | null,
    { timeoutMs, bytesMax, signal }: { timeoutMs: number; bytesMax: number; signal: AbortSignal },
  ): Promise<RawAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
    const request = (this.#endpoint.secure ? https : http).request({
      agent: this.#agent,
      host: this.#endpoint.address,
      port: this.#endpoint.port,
      path: this.#path,
      method,
      headers,
    });
    const fail = (error: unknown) => {
      reject(toCallError(error, this.#endpoint));
      request.destroy();
    };
    let begun: http.IncomingMessage | null = null;
    const expire = () => fail(new CallError("timeout", describeTimeout(begun, timeoutMs)));
    const timer = setTimeout(expire, timeoutMs);
    const guard = guardRaw(request, RAW_BYTES_FACTOR * bytesMax + RAW_BYTES_MORE, fail);
    const abort = () => fail(new CallError("unusable", "the run was ended"));
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    request.on("error", fail);
    request.on("response", (response) => {
      begun = response;
      response.on("error", fail);
      readBody(
        response,
        bytesMax,
        fail,
        (bytes) => resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes }),
      );
    });
    request.end(body ?? undefined);
    return promise.finally(() => {
      clearTimeout(timer);
      clearInterval(guard);
      signal.removeEventListener("abort", abort);
    });
  }

  #headersOf(body: Uint8Array, packed: boolean): Record<string, string> {
    return {
      ...this.#commonHeaders(),
      accept: "application/json",
      "content-type": "application/json",
      "content-length": String(body.length),
      ...(packed ? { "content-encoding": "gzip" } : {}),
    };
  }

  #commonHeaders(): Record<string, string> {
    return { host: new URL(this.#endpoint.url).host, "accept-encoding": "gzip", "user-agent": "hindcast/1" };
  }
}

/**
 * Connects over TLS to the pinned address, and verifies the certificate against the endpoint's name. The agent of node:https needs
 * permissions beyond that address; a plain TLS socket does not.
 */
class SecureAgent extends https.Agent {
  readonly #endpoint: PinnedEndpoint;

  constructor(endpoint: PinnedEndpoint, connectionsMax: number) {
    super({ keepAlive: true, maxSockets: connectionsMax });
    this.#endpoint = endpoint;
  }

  override createConnection(): tls.TLSSocket {
    const { address, port, hostname } = this.#endpoint;
    // Server name indication allows no address. Without it the certificate is checked against the address.
    const name = hostname === address ? {} : { servername: hostname };
    return tls.connect({ host: address, port, ALPNProtocols: ["http/1.1"], ...name });
  }
}

interface RawAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: Uint8Array;
}

/**
 * Fails a call whose answer does not come to its point: too many informational answers, or too many bytes around too little body.
 *
 * @returns The timer that looks; the caller clears it.
 */
function guardRaw(
  request: http.ClientRequest,
  bytesMax: number,
  fail: (error: CallError) => void,
): ReturnType<typeof setInterval> {
  let informational = 0;
  request.on("information", () => {
    if (++informational <= INFORMATIONAL_MAX) return;
    fail(new CallError("unusable", `it sent more than ${INFORMATIONAL_MAX} informational answers (HTTP 1xx)`));
  });
  let before: number | null = null;
  // A connection that stays open counts on from earlier answers.
  request.on("socket", (socket) => before = socket.bytesRead);
  return setInterval(() => {
    if (before === null || (request.socket?.bytesRead ?? 0) - before <= bytesMax) return;
    fail(new CallError("unusable", `it sent more than ${bytesMax} bytes in all: its heads or chunks are too long`));
  }, RAW_WATCH_MS);
}

function readBody(
  response: http.IncomingMessage,
  bytesMax: number,
  fail: (error: CallError) => void,
  done: (bytes: Uint8Array) => void,
): void {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const tooLong = () => fail(new CallError("unusable", `its answer is longer than ${bytesMax} bytes`));
  if (Number(response.headers["content-length"]) > bytesMax) return tooLong();
  response.on("data", (part: Uint8Array) => {
    bytes += part.length;
    if (bytes > bytesMax) tooLong();
    else parts.push(part);
  });
  response.on("end", () => done(Buffer.concat(parts)));
  response.on("close", () => {
    if (!response.complete) fail(new CallError("broken", "it closed the connection in the middle of its answer"));
  });
}

/** Distinguishes silence from an answer that does not end, for example because it has no Content-Length. */
function describeTimeout(begun: http.IncomingMessage | null, timeoutMs: number): string {
  if (begun === null) return `it did not answer within ${timeoutMs} ms`;
  const hasEnd = begun.headers["content-length"] !== undefined || begun.headers["transfer-encoding"] !== undefined;
  return `its answer began but did not end within ${timeoutMs} ms${hasEnd ? "" : ": it has no Content-Length"}`;
}

/** @throws {CallError} When the body is damaged, longer than allowed, or has another encoding than gzip. */
async function unpack({ headers, bytes }: RawAnswer, bytesMax: number): Promise<Uint8Array> {
  const encoding = headerOf(headers, "content-encoding").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return bytes;
  if (encoding !== "gzip" && encoding !== "x-gzip") {
    throw new CallError(
      "unusable",
      `its answer has the encoding ${JSON.stringify(encoding.slice(0, 20))}: use gzip or none`,
    );
  }
  try {
    return await gunzipAsync(bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    const tooLong = error instanceof RangeError;
    throw new CallError(
      "unusable",
      tooLong ? `its decompressed answer is longer than ${bytesMax} bytes` : "its answer is not valid gzip",
    );
  }
}

function headerOf(headers: http.IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value ?? "";
}

function toCallError(error: unknown, { isForeign = false }: PinnedEndpoint): CallError {
  if (error instanceof CallError) return error;
  if (!(error instanceof Error)) return new CallError("broken", String(error));
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (error instanceof Deno.errors.NotCapable) {
    return new CallError("unusable", "the sandbox refused the connection to its address");
  }
  // A retry does not help against a wrong certificate.
  if (/CERT|SIGNATURE|ISSUER|^ERR_TLS|^ERR_SSL/.test(code) || error.message.includes("certificate")) {
    // The runtime's message can contain the host's name.
    return new CallError("unusable", `its certificate was not accepted${isForeign ? "" : `: ${error.message}`}`);
  }
  if (code === "") return new CallError("broken", isForeign ? "the connection failed" : error.message);
  return new CallError("broken", `${describeCode(code)} (${code})`);
}

function describeCode(code: string): string {
  if (code === "ECONNREFUSED") return "nothing listens there";
  if (code === "ECONNRESET" || code === "EPIPE") return "it closed the connection";
  if (code.startsWith("HPE_")) return "it does not speak HTTP";
  return "the connection failed";
}
