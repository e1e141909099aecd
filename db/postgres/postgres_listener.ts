import { PostgresClient } from "./postgres.ts";

const HEARTBEAT_MS = 10_000;
const HEARTBEAT_MS_MAX = 5000;
const FIRST_PAUSE_MS = 1000;
const PAUSE_MS_MAX = 30_000;

/** How a listener reports. */
interface ListenerOptions {
  readonly channel: string;
  /** Settings of the session, such as `application_name`. */
  readonly settings?: Readonly<Record<string, string | number>>;
  readonly onNotification: (payload: string) => void;
  /** Called after each connect: earlier notifications may be lost. */
  readonly onConnect: () => void;
  /** Called with the reason when the connection has ended. */
  readonly onError: (error: unknown) => void;
}

/**
 * Receives the notifications of one channel on a connection of its own, and reconnects when that ends or stays silent.
 *
 * A heartbeat every 10 s detects a server that no longer answers, and a session that no longer listens.
 */
export class PostgresListener {
  readonly #url: string;
  readonly #options: ListenerOptions;
  #client: PostgresClient | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  private constructor(url: string, options: ListenerOptions) {
    this.#url = url;
    this.#options = options;
  }

  /** @throws When the first connection fails. */
  static async open(url: string, options: ListenerOptions): Promise<PostgresListener> {
    const listener = new PostgresListener(url, options);
    await listener.#connect();
    return listener;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#client?.close();
  }

  async #connect(): Promise<void> {
    const { channel, settings = {}, onNotification, onConnect } = this.#options;
    const onNotify = (name: string, payload: string) => {
      if (name === channel) onNotification(payload);
    };
    const client = await PostgresClient.connect(this.#url, { settings, onNotify });
    try {
      await client.query(`listen "${channel}"`);
    } catch (error) {
      await client.close();
      throw error;
    }
    if (this.#isClosed) return await client.close();
    this.#client = client;
    void client.ended.then((reason) => this.#onEnd(reason));
    this.#beatLater(client);
    onConnect();
  }

  #onEnd(reason: Error): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#options.onError(reason);
    this.#reconnectLater(FIRST_PAUSE_MS);
  }

  #reconnectLater(pauseMs: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#connect().catch(() => this.#reconnectLater(Math.min(2 * pauseMs, PAUSE_MS_MAX)));
    }, pauseMs);
  }

  #beatLater(client: PostgresClient): void {
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(() => void client.close(), HEARTBEAT_MS_MAX);
      client.query("select from pg_listening_channels() as channel where channel = $1", [this.#options.channel])
        .then((rows) => {
          clearTimeout(this.#timer);
          if (rows.length === 0) return void client.close();
          if (!this.#isClosed) this.#beatLater(client);
        })
        // #onEnd() reports the end of the connection.
        .catch(() => {});
    }, HEARTBEAT_MS);
  }
}
