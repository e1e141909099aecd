/**
 * A process that trusts the authority it was started with (`deno run --cert`) and calls an endpoint of that authority:
 * `remote_tls_caller.ts HOSTNAME PORT`. It writes the outcome of the call as JSON.
 */
import { CallError, EndpointCaller } from "../../../../workers/sandbox/remote/http.ts";

const [hostname = "", port = ""] = Deno.args;
const host = `${hostname}:${port}`;
const endpoint = { url: `https://${host}/`, host, hostname, address: "127.0.0.1", port: Number(port), secure: true };
const caller = new EndpointCaller(endpoint, 1);
const said: string[] = [];
for (let i = 0; i < 2; i++) {
  try {
    const limits = { timeoutMs: 60_000, bytesMax: 1000, signal: new AbortController().signal };
    said.push(new TextDecoder().decode((await caller.post("{}", limits)).body));
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    said.push(`${error.kind}: ${error.message}`);
  }
}
caller.close();
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(said)));
