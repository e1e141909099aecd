import { Pool, TimeoutError } from "tarn";
import { type ClientOptions, type PipelinedWork, PostgresClient, type Rows, type RowShape } from "./postgres.ts";
import { ConnectionError, type PostgresAddress } from "./postgres_socket.ts";

// The longest wait of a statement for a free or a new connection.
const ACQUIRE_MS_MAX = 30_000;
const IDLE_MS_MAX = 10_000;

/** A few clients of one database, each lent to one caller at a time. */
export class PostgresPool {
  readonly #pool: Pool<PostgresClient>;
  #isClosed = false;

  /**
   * @param server A URL (see parseAddress), or a server in this process.
   * @param connectionsMax How many clients there may be; those that are idle are closed.
   */
  constructor(server: string | PostgresAddress, connectionsMax: number, options: ClientOptions = {}) {
    this.#pool = new Pool<PostgresClient>({
      create: () => PostgresClient.connect(server, options),
      validate: (client) => client.isUsable,
      destroy: (client) => client.close(),
      // To keep a connection within the process costs nothing.
      min: typeof server === "string" ? 0 : 1,
      max: connectionsMax,
      acquireTimeoutMillis: ACQUIRE_MS_MAX,
      createTimeoutMillis: ACQUIRE_MS_MAX,
      idleTimeoutMillis: IDLE_MS_MAX,
      propagateCreateError: true,
    });
  }

  /** Runs a statement on a free connection; see PostgresClient.query. */
  query(text: string, values: readonly unknown[] = [], shape: RowShape = "objects"): Promise<Rows> {
    return this.#lend(async (client) => {
      try {
        return await client.query(text, values, shape);
      } catch (error) {
        // Several statements may have begun a transaction before one of them failed.
        if (values.length === 0) client.retire();
        throw error;
      }
    });
  }

  /** Runs a transaction on a free connection. */
  transaction<Answer>(work: (client: PostgresClient) => Promise<Answer>): Promise<Answer> {
    return this.#lend((client) => client.transaction(work));
  }

  /** The same in less round trips; see PostgresClient.pipelinedTransaction. */
  pipelinedTransaction<Answer>(work: PipelinedWork<PostgresClient, Answer>): Promise<Answer> {
    return this.#lend((client) => client.pipelinedTransaction(work));
  }

  /** Ends all connections once their callers have returned them, and refuses all later calls. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.destroy();
    // A client that was lent meanwhile has started the pool's timer anew.
    this.#pool.check();
  }

  async #lend<Answer>(work: (client: PostgresClient) => Promise<Answer>): Promise<Answer> {
    // The pool would let it wait for a connection that never comes.
    if (this.#isClosed) throw closed();
    const client = await this.#pool.acquire().promise.catch((cause) => {
      if (this.#isClosed) throw closed();
      if (!(cause instanceof TimeoutError)) throw cause;
      throw new ConnectionError(`No database connection became free within ${ACQUIRE_MS_MAX / 1000} s`, { cause });
    });
    try {
      return await work(client);
    } finally {
      this.#pool.release(client);
    }
  }
}

const closed = () => new ConnectionError("The connections to the database are closed");
