import { getLogger } from "@logtape/logtape";

const log = getLogger(["hindcast", "http"]);

const PAUSE_MS = 250;

/** A socket whose requests are answered. */
export interface LastingServer {
  readonly addr: Deno.NetAddr;
  /** Takes no more requests, and waits for those that are under way. */
  shutdown(): Promise<void>;
}

/**
 * Serves as Deno.serve() does, and goes on where that ends, and its process with it: when a connection could not be accepted, because so
 * many are open that the system gives no file for another. Anybody could open them.
 *
 * What else needs a file meanwhile is not helped: the runtime panics where it gets none for a thread or for an error's stack.
 *
 * @throws When it cannot listen at all.
 */
export function serveLasting(options: Deno.ServeTcpOptions, handler: Deno.ServeHandler<Deno.NetAddr>): LastingServer {
  let server = Deno.serve(options, handler);
  const { addr } = server;
  let isClosing = false;
  const again = { ...options, hostname: addr.hostname, port: addr.port };
  const listenAgain = async () => {
    while (!isClosing) {
      await new Promise((resume) => setTimeout(resume, PAUSE_MS));
      try {
        if (!isClosing) server = Deno.serve(again, handler);
        return;
      } catch {
        // There is still no room; that is told already.
      }
    }
  };
  const last = async () => {
    while (!isClosing) {
      try {
        return await server.finished;
      } catch (error) {
        log.error("Cannot accept connections: {error}", { error });
      }
      await listenAgain();
    }
  };
  const ended = last();
  const shutdown = async () => {
    isClosing = true;
    // One that has failed already has nothing to say about it again.
    await server.shutdown().catch(() => {});
    await ended;
  };
  return { addr, shutdown };
}
