import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";
import { ConnectionError, type PostgresAddress } from "../postgres/postgres_socket.ts";
import { unpackDatabase } from "./packed_database.ts";
import { loadPgliteFiles } from "./pglite_files.ts";
import type { FromPgliteThread, ToPgliteThread } from "./pglite_messages.ts";
// Imported as text: a Worker of a file would need permission to read it, and the service has none.
import threadText from "./pglite_thread.ts" with { type: "text" };

/**
 * The embedded database: PGlite on a thread of its own, so that its work holds up nothing else of the process.
 *
 * It is spoken to as a PostgreSQL server is, in the same protocol by the same client. It has one session: one connection at a time.
 */
export class PgliteServer {
  readonly #thread: Worker;
  readonly #closed = Promise.withResolvers<void>();
  #connection: Connection | undefined;
  #connectionsCount = 0;
  #failure: ConnectionError | undefined;

  private constructor(thread: Worker) {
    this.#thread = thread;
    thread.onmessage = ({ data }: MessageEvent<FromPgliteThread>) => this.#receive(data);
    thread.onerror = (event) => {
      event.preventDefault();
      this.#fail(new Error(event.message));
    };
  }

  /**
   * Opens the database. PGlite has no lock of its own: the caller holds the data directory (see data_directory.ts).
   *
   * @param folder Where its files are, or `memory://` for a database that closing removes.
   * @param whileOpening Called when the thread has all that it needs: this one is free until the database is open.
   * @throws When the folder cannot be written or holds the files of another PostgreSQL version.
   */
  static async open(folder: string, whileOpening?: () => void): Promise<PgliteServer> {
    const thread = startThread(folder);
    const opened = Promise.withResolvers<void>();
    thread.onmessage = ({ data }: MessageEvent<FromPgliteThread>) =>
      data.type === "failed" ? opened.reject(data.error) : opened.resolve();
    thread.onerror = (event) => {
      event.preventDefault();
      opened.reject(new Error(`Cannot start the embedded database's thread: ${event.message}`));
    };
    try {
      // The thread loads PGlite meanwhile.
      const [files] = await Promise.all([loadPgliteFiles(), unpackDatabase(folder)]);
      thread.postMessage({ type: "open", folder, files } satisfies ToPgliteThread);
      whileOpening?.();
      await opened.promise;
    } catch (error) {
      thread.terminate();
      throw error;
    }
    return new PgliteServer(thread);
  }

  /** The server's address for PostgresClient; a client that connects takes the session from the one before. */
  get address(): PostgresAddress {
    return {
      host: "the embedded database",
      port: 0,
      database: "postgres",
      user: "postgres",
      password: "",
      tls: null,
      settings: {},
      prepares: true,
      connect: () => this.#connect(),
    };
  }

  /** Writes everything to the folder and ends the thread. */
  async close(): Promise<void> {
    if (this.#failure === undefined) {
      this.#post({ type: "close" });
      await this.#closed.promise;
    }
    this.#thread.terminate();
  }

  #connect(): Duplex {
    this.#connection?.destroy();
    const number = ++this.#connectionsCount;
    const connection = new Connection({
      send: (data) => this.#post({ type: "data", connection: number, data }),
      disconnect: () => this.#post({ type: "disconnect" }),
    }, number);
    this.#connection = connection;
    if (this.#failure !== undefined) connection.destroy(this.#failure);
    return connection;
  }

  #post(message: ToPgliteThread): void {
    this.#thread.postMessage(message, message.type === "data" ? [message.data.buffer] : []);
  }

  #receive(message: FromPgliteThread): void {
    if (message.type === "data") {
      if (message.connection === this.#connection?.number) this.#connection.receive(message.data);
    } else if (message.type === "failed") this.#fail(message.error);
    else if (message.type === "closed") this.#closed.resolve();
  }

  /** PGlite's program has crashed: what it answers from now on cannot be relied upon. */
  #fail(cause: Error): void {
    this.#failure ??= new ConnectionError("The embedded database has stopped: restart the service", { cause });
    this.#connection?.destroy(this.#failure);
    this.#closed.resolve();
  }
}

/** The thread may use the database's folder and nothing else. */
function startThread(folder: string): Worker {
  const files = folder.includes("://") ? false : [folder];
  const url = URL.createObjectURL(new Blob([threadText], { type: "application/typescript" }));
  return new Worker(url, {
    type: "module",
    name: "embedded database",
    deno: {
      permissions: {
        read: files,
        write: files,
        env: false,
        ffi: false,
        import: false,
        net: false,
        run: false,
        sys: false,
      },
    },
  });
}

interface Wire {
  send(data: Uint8Array<ArrayBuffer>): void;
  disconnect(): void;
}

/** A connection's end on this side, as a socket. */
class Connection extends Duplex {
  readonly number: number;
  readonly #wire: Wire;

  constructor(wire: Wire, number: number) {
    super();
    this.#wire = wire;
    this.number = number;
  }

  /** postgres.js ends a socket only in this state, and else waits in vain for its end. */
  get readyState(): string {
    return this.destroyed ? "closed" : "open";
  }

  receive(data: Uint8Array): void {
    if (data.length > 0 && !this.destroyed) this.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  }

  override _read(): void {
    // Answers are pushed as they come.
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error) => void): void {
    this.#wire.send(new Uint8Array(chunk));
    done();
  }

  override _final(done: () => void): void {
    done();
    this.destroy();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#wire.disconnect();
    done(error);
  }
}
