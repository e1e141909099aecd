/** Servers on loopback that the worst user makes the service ask. */
const HOUR_MS = 3_600_000;

/** A server that runs until it is closed. */
export interface BenchServer {
  readonly url: string;
  close(): Promise<void>;
}

/** An exchange that has hours of one price for every symbol. */
export function startFeed(): BenchServer {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    const query = new URL(url).searchParams;
    const [from, until] = [Number(query.get("startTime")), Number(query.get("endTime"))];
    const rows = [];
    for (let time = Math.ceil(from / HOUR_MS) * HOUR_MS; time <= until && rows.length < 1000; time += HOUR_MS) {
      rows.push([time, "5", "5", "5", "5", "1", time + HOUR_MS - 1, "0", 1, "0", "0", "0"]);
    }
    return Response.json(rows);
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, close: () => server.shutdown() };
}

/** A server that answers every request with 103 without end. */
export function startHinter(): BenchServer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const hints = new TextEncoder().encode("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(500));
  const answer = async (connection: Deno.Conn) => {
    try {
      for (;;) await connection.write(hints);
    } catch {
      // The service has left.
    } finally {
      connection.close();
    }
  };
  const serving = (async () => {
    for await (const connection of listener) void answer(connection);
  })().catch(() => {});
  const close = async () => {
    listener.close();
    await serving;
  };
  return { url: `http://127.0.0.1:${listener.addr.port}`, close };
}
