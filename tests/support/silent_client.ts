/** A client that sends a request and reads nothing. */
export interface SilentClient {
  /** Reads what has arrived, and waits for the end. @returns The first line, and the number of bytes. */
  read(): Promise<{ readonly status: string; readonly bytes: number }>;
  close(): void;
}

/** Connects and asks for a path. */
export async function askSilently(url: string, path: string, cookie = ""): Promise<SilentClient> {
  const { hostname, port } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const request = `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: close\r\ncookie: ${cookie}\r\n\r\n`;
  await connection.write(new TextEncoder().encode(request));
  const read = async () => {
    let [status, bytes] = ["", 0];
    try {
      for await (const part of connection.readable) {
        if (bytes === 0) status = new TextDecoder().decode(part).split("\r\n")[0] ?? "";
        bytes += part.byteLength;
      }
    } catch {
      // The service may also reset the connection.
    }
    return { status, bytes };
  };
  const close = () => {
    try {
      connection.close();
    } catch {
      // It was read to its end.
    }
  };
  return { read, close };
}
