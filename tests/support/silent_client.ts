/** A client that sends a request, or a part of one, and reads nothing. */
export interface SilentClient {
  /** Sends more of a body. */
  send(text: string): Promise<void>;
  /** Waits for an answer. @returns Its first line. */
  readStatus(): Promise<string>;
  /** Reads what has arrived, and waits for the end. @returns The first line, and the number of bytes. */
  read(): Promise<{ readonly status: string; readonly bytes: number }>;
  close(): void;
}

/** Connects and asks for a path. */
export async function askSilently(url: string, path: string, cookie = ""): Promise<SilentClient> {
  return await connect(url, `GET ${path}`, { connection: "close", cookie });
}

/** Connects and posts a part of a body of `length` bytes. */
export async function postPart(
  url: string,
  path: string,
  { length, part, headers }: { length: number; part: string; headers: Readonly<Record<string, string>> },
): Promise<SilentClient> {
  const client = await connect(url, `POST ${path}`, { ...headers, "content-length": String(length) });
  await client.send(part);
  return client;
}

async function connect(url: string, request: string, headers: Readonly<Record<string, string>>): Promise<SilentClient> {
  const { hostname, port, host } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const send = async (text: string) => void await connection.write(new TextEncoder().encode(text));
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  await send(`${request} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const readStatus = async () => {
    const bytes = new Uint8Array(1024);
    const length = await connection.read(bytes);
    return new TextDecoder().decode(bytes.subarray(0, length ?? 0)).split("\r\n")[0] ?? "";
  };
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
  return { send, readStatus, read, close };
}
