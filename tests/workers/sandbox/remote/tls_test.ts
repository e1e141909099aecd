import { expect } from "@std/expect";
import { RemoteClient } from "../../../../workers/sandbox/remote/client.ts";
import { AUTHORITY, CERTIFICATE, EXPIRED_CERTIFICATE, KEY } from "./certificates.ts";
import { remoteTask, serveRaw } from "./endpoints.ts";

/** An endpoint over TLS that answers with the name and port of the call. */
function serveTls(cert: string) {
  const calls: string[] = [];
  const options = { hostname: "127.0.0.1", port: 0, cert, key: KEY, onListen: () => {} };
  const server = Deno.serve(options, (http, { remoteAddr }) => {
    calls.push(`${http.headers.get("host")} from port ${remoteAddr.port}`);
    return new Response("hello");
  });
  return { port: server.addr.port, calls, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** The output of a process that trusts the tests' authority and may call one address and nothing else. */
async function callTrusting(hostname: string, port: number): Promise<string[]> {
  const authority = await Deno.makeTempFile({ suffix: ".pem" });
  try {
    await Deno.writeTextFile(authority, AUTHORITY);
    const script = new URL("./tls_caller.ts", import.meta.url).pathname;
    const permission = `--allow-net=127.0.0.1:${port}`;
    const args = [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-config",
      "--no-check",
      `--cert=${authority}`,
      permission,
      script,
    ];
    const command = new Deno.Command(Deno.execPath(), { args: [...args, hostname, String(port)] });
    const { stdout, stderr } = await command.output();
    if (stderr.length > 0) throw new Error(new TextDecoder().decode(stderr));
    return JSON.parse(new TextDecoder().decode(stdout));
  } finally {
    await Deno.remove(authority);
  }
}

Deno.test("a certificate of an unknown authority fails the run at once, before a request is sent", async () => {
  await using server = serveTls(CERTIFICATE);
  // Every call comes through here, also one that fails on the certificate.
  await using way = serveRaw(async (connection) => {
    const onward = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
    const there = connection.readable.pipeTo(onward.writable);
    await Promise.allSettled([there, onward.readable.pipeTo(connection.writable)]);
  });
  const task = await remoteTask(`https://127.0.0.1:${way.port}/`);
  const endpoint = { ...task.endpoint, hostname: "endpoint.test" };
  const client = new RemoteClient({ ...task, endpoint });
  await expect(client.ask({ from: 0, first: 0, until: 1 })).rejects.toMatchObject({
    code: "ENDPOINT_FAILED",
    message: expect.stringMatching(/127\.0\.0\.1:\d+ for candle 0 .*its certificate was not accepted: .*certificate$/),
  });
  client.close();
  const foreign = new RemoteClient({ ...task, endpoint: { ...endpoint, host: "another's", isForeign: true } });
  await expect(foreign.ask({ from: 0, first: 0, until: 1 })).rejects.toMatchObject({
    message: expect.stringMatching(/from another's for candle 0 .*: its certificate was not accepted$/),
  });
  foreign.close();
  // One call of each client: a wrong certificate is not retried.
  expect(way.connections()).toBe(2);
  expect(server.calls).toEqual([]);
});

Deno.test("a trusted certificate is accepted for the name that it carries, over one open connection to the pinned address", async () => {
  await using server = serveTls(CERTIFICATE);
  expect(await callTrusting("endpoint.test", server.port)).toEqual(["hello", "hello"]);
  expect(server.calls[0]).toMatch(new RegExp(`^endpoint\\.test:${server.port} from port \\d+$`));
  expect(server.calls[1]).toBe(server.calls[0]);
});

Deno.test("a trusted certificate for another name, or one that has expired, is not accepted", async () => {
  await using other = serveTls(CERTIFICATE);
  for (const name of ["another.test", "127.0.0.1"]) {
    const [said = ""] = await callTrusting(name, other.port);
    expect(said).toMatch(/^unusable: its certificate was not accepted: /);
  }
  await using expired = serveTls(EXPIRED_CERTIFICATE);
  const [said = ""] = await callTrusting("endpoint.test", expired.port);
  expect(said).toMatch(/^unusable: its certificate was not accepted: /);
  expect([...other.calls, ...expired.calls]).toEqual([]);
});
