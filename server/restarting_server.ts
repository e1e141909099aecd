import { getLogger } from "@logtape/logtape";

const log = getLogger(["hindcast", "http"]);

const PAUSE_MS = 250;

/** A listening HTTP server. */
export interface RestartingServer {
  readonly addr: Deno.NetAddr;
  /** Accepts no more requests, and waits for those under way. */
  shutdown(): Promise<void>;
}

/**
 * Serves as Deno.serve() does, and starts again when that ends by itself.
 *
 * Deno.serve() ends when the process has no file left for another connection, which any client can bring about. The runtime may
 * still panic where it needs a file for a thread or for an error's stack.
 *
 * @throws When it cannot listen at all.
 */
export function serveWithRestarts(
  options: Deno.ServeTcpOptions,
  handler: Deno.ServeHandler<Deno.NetAddr>,
): RestartingServer {
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
        // Still no file; the log has a line about it already.
      }
    }
  };
  const runUntilClosed = async () => {
    while (!isClosing) {
      try {
        return await server.finished;
      } catch (error) {
        log.error("Cannot accept connections: {error}", { error });
      }
      await listenAgain();
    }
  };
  const ended = runUntilClosed();
  const shutdown = async () => {
    isClosing = true;
    // A server that has failed reports the same error here again.
    await server.shutdown().catch(() => {});
    await ended;
  };
  return { addr, shutdown };
}
