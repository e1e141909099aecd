import { freePort } from "./free_port.ts";

/** A way to a database that can be shut and opened, as if its server were stopped and started. */
export class DatabaseProxy {
  /** The database's address through the proxy. */
  readonly url: string;
  /** Nothing from these bytes of a client on reaches the server, as if the client hung. */
  withholds: (bytes: Uint8Array) => boolean = () => false;
  readonly #target: Deno.ConnectOptions;
  readonly #port = freePort();
  readonly #connections = new Set<Deno.Conn>();
  #listener: Deno.Listener | undefined;
  #accepting: Promise<void> = Promise.resolve();

  /** Shut. */
  constructor(databaseUrl: string) {
    const url = new URL(databaseUrl);
    this.#target = { hostname: url.hostname, port: Number(url.port) };
    url.host = `127.0.0.1:${this.#port}`;
    this.url = url.href;
  }

  open(): void {
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: this.#port });
    this.#accepting = this.#accept(this.#listener);
  }

  /** Ends all connections and takes no more. */
  async shut(): Promise<void> {
    this.#listener?.close();
    this.#listener = undefined;
    for (const connection of this.#connections) close(connection);
    await this.#accepting;
  }

  async #accept(listener: Deno.Listener): Promise<void> {
    const pipes: Promise<void>[] = [];
    try {
      for (;;) {
        const client = await listener.accept();
        const server = await Deno.connect(this.#target);
        this.#connections.add(client).add(server);
        pipes.push(this.#pipe(client, server, (bytes) => this.withholds(bytes)), this.#pipe(server, client));
      }
    } catch {
      // It was shut.
    }
    await Promise.all(pipes);
  }

  async #pipe(from: Deno.Conn, to: Deno.Conn, withholds = (_: Uint8Array) => false): Promise<void> {
    const chunk = new Uint8Array(65_536);
    let isSilent = false;
    try {
      for (let count = await from.read(chunk); count !== null; count = await from.read(chunk)) {
        isSilent ||= withholds(chunk.subarray(0, count));
        if (isSilent) continue;
        for (let sent = 0; sent < count;) sent += await to.write(chunk.subarray(sent, count));
      }
    } catch {
      // One of the two ended it, or it was shut.
    }
    for (const connection of [from, to]) {
      this.#connections.delete(connection);
      close(connection);
    }
  }
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}
