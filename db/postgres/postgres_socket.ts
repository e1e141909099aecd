import { Buffer } from "node:buffer";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import net from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";

const DEFAULT_PORT = 5432;
// PostgreSQL's SSLRequest message, and the byte that accepts it.
const TLS_REQUEST = Uint8Array.of(0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f);
const TLS_ACCEPTED = "S".charCodeAt(0);
// The URL parameters that name files: the authority, the client's certificate and its key.
const CERTIFICATES = ["sslrootcert", "sslcert", "sslkey"] as const;
// The URL parameters that are sent to the server.
const SERVER_SETTINGS = [
  "application_name",
  "options",
  "statement_timeout",
  "lock_timeout",
  "idle_in_transaction_session_timeout",
];

/** The connection has ended or could not be opened. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** The SQLSTATE of a connection failure. */
  readonly code = "08006";
}

/** The server offers no TLS, or its certificate is not trusted. A retry would fail again. */
class EncryptionError extends Error {
  override readonly name = "EncryptionError";
  /** The SQLSTATE of a refused sign-in. */
  readonly code = "28000";
}

/** An address that cannot be used. The message has no password: `URL` and `decodeURIComponent` would quote it. */
class AddressError extends Error {
  override readonly name = "AddressError";
  /** The SQLSTATE of a refused sign-in: a retry would fail again. */
  readonly code = "28000";
}

/** A PostgreSQL server and how to connect to it, read from a URL. */
export interface PostgresAddress {
  /** A name, an IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** Empty: the name of the process's user. */
  readonly user: string;
  readonly password: string;
  /** Null: not encrypted. */
  readonly tls: tls.ConnectionOptions | null;
  readonly settings: Readonly<Record<string, string>>;
  /** False behind a pooler that cannot keep prepared statements. */
  readonly prepares: boolean;
  /** Connects to a server in this process instead; host, port and TLS do not matter then. */
  readonly connect?: () => Duplex;
}

/**
 * Reads `postgres://user:password@host:port/database?parameters`.
 *
 * `sslmode=require`, `verify-ca`, `verify-full` and `prefer` all encrypt and verify the server's certificate and name, against the
 * runtime's authorities or those in the file `sslrootcert`; `no-verify` encrypts only; `disable`, the default, does neither. `sslcert`
 * and `sslkey` name the files of a client certificate. `prepare=false` turns prepared statements off.
 *
 * @throws {AddressError} When the URL cannot be read, names an unknown `sslmode`, or names certificates that cannot be used.
 */
export function parseAddress(url: string): PostgresAddress {
  const { hostname, port, pathname, username, password, searchParams } = parseUrl(url);
  const host = searchParams.get("host") ?? decode(hostname);
  const settings = SERVER_SETTINGS.flatMap((name) => {
    const value = searchParams.get(name);
    return value === null ? [] : [[name, value]];
  });
  return {
    host: host.replace(/^\[(.*)\]$/, "$1") || "localhost",
    port: Number(port || searchParams.get("port") || DEFAULT_PORT),
    database: decode(pathname.slice(1)),
    user: decode(username),
    password: decode(password),
    tls: readTls(searchParams),
    settings: Object.fromEntries(settings),
    prepares: searchParams.get("prepare") !== "false",
  };
}

function parseUrl(url: string): URL {
  const parsed = URL.parse(url);
  if (parsed !== null) return parsed;
  throw new AddressError(
    "it cannot be read: its form is postgres://user:password@host:port/database, with %2F for / in a password, and the like for # and ?",
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AddressError("it cannot be read: it has a % that begins no character: write %25 for it");
  }
}

function readTls(parameters: URLSearchParams): tls.ConnectionOptions | null {
  const mode = parameters.get("sslmode") ?? (parameters.get("ssl") === "true" ? "require" : "disable");
  if (mode === "disable") {
    const unused = CERTIFICATES.find((name) => parameters.has(name));
    if (unused === undefined) return null;
    throw new AddressError(`${unused} encrypts nothing by itself: add sslmode=require`);
  }
  if (mode === "no-verify") return { rejectUnauthorized: false };
  if (!["prefer", "require", "verify-ca", "verify-full"].includes(mode)) {
    throw new AddressError(
      `Cannot connect to PostgreSQL with sslmode=${mode}: use disable, require, verify-full or no-verify`,
    );
  }
  const read = (name: (typeof CERTIFICATES)[number]) => {
    const path = parameters.get(name);
    if (path === null || path === "system") return undefined;
    try {
      return readFileSync(path, "utf8");
    } catch (cause) {
      throw new AddressError(`Cannot connect to PostgreSQL with ${name}=${path}: the file cannot be read`, { cause });
    }
  };
  const [ca, cert, key] = CERTIFICATES.map(read);
  return {
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

/**
 * Connects a socket, encrypted where the address says so.
 *
 * @param onEnd Called with the reason on each `error` and `close`, before other listeners.
 * @returns The socket, which may be destroyed at any time, and a promise of the one to use.
 */
export function openSocket(
  address: PostgresAddress,
  onEnd: (reason: Error) => void,
): { readonly socket: Duplex; readonly ready: Promise<Duplex> } {
  const { host, port, connect } = address;
  if (connect !== undefined) {
    const stream = connect();
    watch(stream, onEnd);
    return { socket: stream, ready: Promise.resolve(stream) };
  }
  const socket = host.startsWith("/") ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host);
  watch(socket, onEnd);
  const ready = prepare(socket, address, onEnd);
  ready.catch(onEnd);
  return { socket, ready };
}

async function prepare(
  socket: net.Socket,
  { host, tls: options }: PostgresAddress,
  onEnd: (reason: Error) => void,
): Promise<net.Socket> {
  await once(socket, "connect");
  socket.setNoDelay(true);
  socket.setKeepAlive(true);
  if (options === null) return socket;
  socket.write(TLS_REQUEST);
  const [answer] = await once(socket, "data");
  // More than one byte would come from an attacker between the server and us.
  if (!Buffer.isBuffer(answer) || answer.length !== 1 || answer[0] !== TLS_ACCEPTED) {
    throw new EncryptionError(`Cannot encrypt the connection to PostgreSQL on ${host}: the server does not offer TLS`);
  }
  const encrypted = tls.connect({ ...options, socket, host, ...(net.isIP(host) ? {} : { servername: host }) });
  try {
    await once(encrypted, "secureConnect");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EncryptionError(`Cannot encrypt the connection to PostgreSQL on ${host}: ${reason}`, { cause });
  }
  watch(encrypted, onEnd);
  return encrypted;
}

function watch(socket: Duplex, onEnd: (reason: Error) => void): void {
  socket.on("error", onEnd);
  socket.on("close", () => onEnd(new ConnectionError("The server has closed the database connection")));
}
