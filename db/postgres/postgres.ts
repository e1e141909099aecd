/**
 * PostgreSQL through postgres.js, by clients of one connection each.
 *
 * postgres.js reconnects by itself: a transaction whose connection drops continues on the new one, and half of it is committed. Here a
 * client is one connection: the first sign of its end marks it dead, fails its pending statements, and the pool replaces it. Transactions
 * are our own statements, because those of postgres.js end the process when a connection drops.
 */
import { getLogger } from "@logtape/logtape";
import type { Duplex } from "node:stream";
import postgres from "postgres";
import { isAborted } from "./sql_states.ts";
import { ConnectionError, openSocket, parseAddress, type PostgresAddress } from "./postgres_socket.ts";
import { createParsers, type DateMode, toText } from "./postgres_types.ts";

const log = getLogger(["hindcast", "db"]);

const CONNECT_MS_MAX = 30_000;
const CLOSE_SECONDS_MAX = 1;
// The server keeps each prepared statement until its connection ends. A client with this many is replaced.
const PREPARED_MAX = 500;
// Longer texts are inserts of many rows; two rarely have the same number of rows.
const PREPARED_CHARACTERS_MAX = 8192;

/** How the clients of a pool are opened. */
export interface ClientOptions {
  readonly dates?: DateMode;
  /** Settings of each session, such as `application_name`. */
  readonly settings?: Readonly<Record<string, string | number>>;
  readonly onNotify?: (channel: string, payload: string) => void;
}

/** Each row as an object by column, or as an array of values, or of their bytes as the server sends them. */
export type RowShape = "objects" | "arrays" | "bytes";

/** The rows of an answer, and `count`, the number of rows that a statement read or wrote. */
export type Rows = unknown[] & { readonly count?: number | null };

/** The work of a transaction, which resolves before its last statements are answered. */
export type PipelinedWork<Client, Answer> = (client: Client) => Promise<{ readonly answer: Promise<Answer> }>;

/** One connection to PostgreSQL, used by one caller at a time, and never again once it has ended. */
export class PostgresClient {
  /** Resolves when the connection has ended, with the reason. */
  readonly ended: Promise<Error>;
  readonly #sql: postgres.Sql;
  readonly #prepares: boolean;
  readonly #prepared = new Set<string>();
  readonly #waiting = new Set<(reason: Error) => void>();
  readonly #resolveEnded: (reason: Error) => void;
  #socket: Duplex | undefined;
  /** A `begin` whose answer the statements behind it must wait for. */
  #beginning: Promise<unknown> | undefined;
  /** A `commit` that was sent before all answers: a statement behind it would be outside of its transaction. */
  #isCommitting = false;
  /** The error that aborted the transaction: the server refuses each later statement for it, in words that do not name it. */
  #aborting: Error | undefined;
  #lost: Error | undefined;
  #isOpen = false;
  #isRetired = false;

  private constructor(address: PostgresAddress, { dates = "text", settings, onNotify }: ClientOptions) {
    ({ promise: this.ended, resolve: this.#resolveEnded } = Promise.withResolvers());
    this.#prepares = address.prepares;
    const { database, user, password } = address;
    const options = {
      ...(database === "" ? {} : { database }),
      ...(user === "" ? {} : { user }),
      password,
      max: 1,
      fetch_types: false,
      max_lifetime: null,
      connect_timeout: 0,
      keep_alive: null,
      connection: { ...settings, ...address.settings },
      socket: () => this.#open(address),
      onnotice() {},
      ...(onNotify === undefined ? {} : { onnotify: onNotify }),
    };
    this.#sql = postgres(options);
    const { parsers, serializers } = this.#sql.options;
    for (const oid of Object.keys(parsers)) delete parsers[Number(oid)];
    Object.assign(parsers, createParsers(dates));
    // Parameters are text already.
    for (const oid of Object.keys(serializers)) delete serializers[Number(oid)];
  }

  /**
   * Opens a connection.
   *
   * @param server A URL (see parseAddress), or a server in this process.
   * @throws When the server cannot be reached or refuses the user.
   */
  static async connect(server: string | PostgresAddress, options: ClientOptions = {}): Promise<PostgresClient> {
    const address = typeof server === "string" ? parseAddress(server) : server;
    const client = new PostgresClient(address, options);
    const silence = new ConnectionError(`The PostgreSQL server has not answered for ${CONNECT_MS_MAX / 1000} s`);
    const timer = setTimeout(() => client.#end(silence), CONNECT_MS_MAX);
    try {
      await client.query("select 1");
      client.#isOpen = true;
      return client;
    } catch (error) {
      const reason = client.#lost?.cause ?? error;
      await client.close();
      throw reason;
    } finally {
      clearTimeout(timer);
    }
  }

  /** True if another caller may have it. */
  get isUsable(): boolean {
    return this.#lost === undefined && !this.#isRetired && this.#prepared.size < PREPARED_MAX;
  }

  /** Runs a statement, or several at once where there are no values. @throws {ConnectionError | postgres.PostgresError} */
  query(text: string, values: readonly unknown[] = [], shape: RowShape = "objects"): Promise<Rows> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    if (this.#isCommitting) {
      return Promise.reject(new Error("Cannot send a statement behind the commit: await it first"));
    }
    const query = this.#sql.unsafe(text, values.map(toText), { prepare: this.#shouldPrepare(text, values.length) });
    const { promise, resolve, reject } = Promise.withResolvers<Rows>();
    this.#waiting.add(reject);
    const answer = shape === "arrays" ? query.values() : shape === "bytes" ? query.raw() : query;
    const running = answer.then((rows: Rows) => resolve(shape === "arrays" ? rows : flatten(rows)));
    const settled = running.catch((error) => {
      // Its own error says more than the end of the connection that may follow.
      this.#waiting.delete(reject);
      const judged = this.#judge(error);
      if (!isAborted(judged)) this.#aborting ??= judged;
      reject(judged);
    });
    void settled.finally(() => this.#waiting.delete(reject));
    if (this.#beginning === undefined) return promise;
    promise.catch(() => {});
    return this.#beginning.then(() => promise);
  }

  /** Runs the work between `begin` and `commit`, or `rollback` when it throws. */
  async transaction<Answer>(work: (client: PostgresClient) => Promise<Answer>): Promise<Answer> {
    return await this.#between("begin", work, "commit", "rollback");
  }

  /**
   * The same in less round trips: `begin` shares that of the work's first statements, and `commit` that of its last ones.
   *
   * A failed `begin` ends the connection, and nobody gets the answers of the statements behind it; but the server has executed them
   * alone. So the first statements only read or lock, or the first one writes everything that belongs together.
   *
   * @param work Resolves once its last statements have been sent. Where one of them fails, the server rolls back at the `commit`.
   */
  async pipelinedTransaction<Answer>(work: PipelinedWork<PostgresClient, Answer>): Promise<Answer> {
    this.#aborting = undefined;
    const begun = this.query("begin");
    this.#beginning = begun;
    begun.then(() => this.#beginning = undefined, (error) => this.#end(error));
    return await this.#finish(work, "commit", "rollback");
  }

  /** The same inside a transaction; the names of nested ones differ. */
  async savepoint<Answer>(name: string, work: (client: PostgresClient) => Promise<Answer>): Promise<Answer> {
    return await this.#between(`savepoint ${name}`, work, `release savepoint ${name}`, `rollback to savepoint ${name}`);
  }

  /** Keeps it from further callers: its state is unknown. */
  retire(): void {
    this.#isRetired = true;
  }

  /** Ends the connection after its pending statements, within a second. */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#sql.end({ timeout: this.#lost === undefined ? CLOSE_SECONDS_MAX : 0 });
    this.#end(new Error("it was closed"));
  }

  async #between<Answer>(
    begin: string,
    work: (client: PostgresClient) => Promise<Answer>,
    commit: string,
    rollback: string,
  ): Promise<Answer> {
    if (begin === "begin") this.#aborting = undefined;
    await this.query(begin);
    return await this.#finish(async () => ({ answer: Promise.resolve(await work(this)) }), commit, rollback);
  }

  async #finish<Answer>(
    work: PipelinedWork<PostgresClient, Answer>,
    commit: string,
    rollback: string,
  ): Promise<Answer> {
    try {
      const { answer } = await work(this);
      const committed = this.query(commit);
      this.#isCommitting = commit === "commit";
      const [answered, ended] = await Promise.allSettled([answer, committed]).finally(() => this.#isCommitting = false);
      if (answered.status === "rejected") throw answered.reason;
      if (ended.status === "rejected") throw ended.reason;
      return answered.value;
    } catch (error) {
      // Of statements that were sent together, a caller may await a later one first.
      const reason = isAborted(error) ? this.#aborting ?? error : error;
      await this.query(rollback).catch((failure) => this.#end(failure));
      this.#aborting = undefined;
      throw reason;
    }
  }

  async #open(address: PostgresAddress) {
    // postgres.js asks for a second socket when it has lost the first.
    if (this.#socket !== undefined || this.#lost !== undefined) throw new Error("a client connects once");
    const { socket, ready } = openSocket(address, (reason) => this.#end(reason));
    this.#socket = socket;
    return await ready;
  }

  #end(reason: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = new ConnectionError("The database connection has ended", { cause: reason });
    if (this.#isOpen) log.warn("A database connection has ended: {reason}", { reason });
    this.#socket?.destroy();
    for (const reject of this.#waiting) reject(this.#lost);
    this.#waiting.clear();
    this.#resolveEnded(reason);
  }

  /** Ends the connection unless the server reported the error and goes on. @returns The error for the caller. */
  #judge(error: Error): Error {
    const isServers = error instanceof postgres.PostgresError;
    if (!isServers && this.#lost !== undefined) return this.#lost;
    if (!isServers || error.severity === "FATAL" || error.severity === "PANIC") this.#end(error);
    return error;
  }

  #shouldPrepare(text: string, valueCount: number): boolean {
    if (!this.#prepares || valueCount === 0 || text.length > PREPARED_CHARACTERS_MAX) return false;
    if (this.#prepared.size < PREPARED_MAX) this.#prepared.add(text);
    return this.#prepared.has(text);
  }
}

// Several statements at once answer with one list of rows each.
function flatten(rows: Rows): Rows {
  return Array.isArray(rows[0]) ? rows.flat() : rows;
}
