/** A client that sends a request and reads nothing. */
export interface SilentClient {
  /** Reads what has arrived, and waits for the end. */
  read(): Promise<string>;
  close(): void;
}

/** Connects and asks for a path. */
export async function askSilently(url: string, path: string, cookie = ""): Promise<SilentClient> {
  const { hostname, port } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const request = `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: close\r\ncookie: ${cookie}\r\n\r\n`;
  await connection.write(new TextEncoder().encode(request));
  const read = async () => {
    const decoder = new TextDecoder();
    let text = "";
    try {
      for await (const part of connection.readable) text += decoder.decode(part, { stream: true });
    } catch {
      // The service may also reset the connection.
    }
    return text;
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
