import { configure, type LogRecord, reset } from "@logtape/logtape";
import { expect } from "@std/expect";
import { type EgressRules, guardEndpoint, permissionFor } from "../../../workers/egress/guard.ts";
import { RunError } from "../../../workers/common/outcome.ts";
import { RemoteClient } from "../../../workers/sandbox/remote/client.ts";
import { remoteTask, serveJson, serveRaw } from "../sandbox/remote/endpoints.ts";

const NOBODY: ReadonlySet<string> = new Set();

/** A resolver of these names. Each look-up of a name gives its next answer; the last answer repeats. */
function names(known: Readonly<Record<string, readonly (readonly string[])[]>>) {
  const lookups: string[] = [];
  const lookup = (hostname: string) => {
    lookups.push(hostname);
    const answers = known[hostname] ?? [[]];
    const times = lookups.filter((name) => name === hostname).length;
    return Promise.resolve(answers[Math.min(times, answers.length) - 1]!);
  };
  return { lookup, lookups };
}

/** Every known way to write an address of this machine or its neighbours; PORT is the canary's. */
const URLS: readonly string[] = [
  // Loopback, in every spelling of IPv4.
  "http://127.0.0.1:PORT/",
  "http://127.1:PORT/",
  "http://127.0.1:PORT/",
  "http://2130706433:PORT/",
  "http://0x7f000001:PORT/",
  "http://0x7f.0.0.1:PORT/",
  "http://0x7f.1:PORT/",
  "http://017700000001:PORT/",
  "http://0177.0.0.1:PORT/",
  "http://0177.0x0.0.1:PORT/",
  "http://127.0.0.1.:PORT/",
  "http://127.8.9.10:PORT/",
  "http://%31%32%37.0.0.1:PORT/",
  "http://127%2e0%2e0%2e1:PORT/",
  "http://①②⑦.⓪.⓪.①:PORT/",
  "http://127。0。0。1:PORT/",
  "http:\\\\127.0.0.1:PORT\\",
  "http:127.0.0.1:PORT/",
  "http://0:PORT/",
  "http://0.0.0.0:PORT/",
  // IPv6, and IPv4 inside it.
  "http://[::1]:PORT/",
  "http://[0:0:0:0:0:0:0:1]:PORT/",
  "http://[::]:PORT/",
  "http://[::ffff:127.0.0.1]:PORT/",
  "http://[::ffff:7f00:1]:PORT/",
  "http://[::127.0.0.1]:PORT/",
  "http://[2002:7f00:1::1]:PORT/",
  "http://[64:ff9b::127.0.0.1]:PORT/",
  "http://[64:ff9b:1::7f00:1]:PORT/",
  "http://[2001:0:7f00:1::]:PORT/",
  "http://[fe80::1]:PORT/",
  "http://[fd00:ec2::254]:PORT/",
  "http://[ff02::1]:PORT/",
  // Names.
  "http://localhost:PORT/",
  "http://LOCALHOST:PORT/",
  "http://localhost.:PORT/",
  "http://anything.localhost:PORT/",
  "http://loopback.test:PORT/",
  "http://LoopBack.test.:PORT/",
  "http://both.test:PORT/",
  "http://both-reversed.test:PORT/",
  "http://mapped.test:PORT/",
  "http://internal.test:PORT/",
  "http://metadata.test:PORT/",
  "https://loopback.test:PORT/",
  // Neighbours: private, link-local, metadata, CGNAT.
  "http://10.0.0.1:PORT/",
  "http://172.16.0.1:PORT/",
  "http://192.168.0.1:PORT/",
  "http://169.254.169.254/latest/meta-data/",
  "http://2852039166/latest/meta-data/",
  "http://100.100.100.200/latest/meta-data/",
  "http://168.63.129.16/machine",
  "http://100.64.0.1:PORT/",
  "http://192.0.0.192/opc/v2/",
  "http://198.18.0.1:PORT/",
  "http://224.0.0.1:PORT/",
  "http://255.255.255.255:PORT/",
  // Credentials, other schemes, other protocols' ports, texts that are not URLs.
  "http://user@127.0.0.1:PORT/",
  "http://user:secret@example.com/",
  "http://example.com:80@127.0.0.1:PORT/",
  "ftp://127.0.0.1:PORT/",
  "file:///etc/passwd",
  "gopher://127.0.0.1:PORT/_GET",
  "ws://127.0.0.1:PORT/",
  "data:application/json,{}",
  "javascript:alert(1)",
  "unix:/var/run/docker.sock",
  "http://public.test:25/",
  "http://public.test:6667/",
  "127.0.0.1:PORT",
  "//127.0.0.1:PORT/",
  "http://",
  "http://[::1",
  "http://127.0.0.1:99999/",
  "",
  `http://public.test/${"x".repeat(3000)}`,
];

const KNOWN = {
  "loopback.test": [["127.0.0.1"]],
  "both.test": [["93.184.216.34", "127.0.0.1"]],
  "both-reversed.test": [["127.0.0.1", "93.184.216.34"]],
  "mapped.test": [["::ffff:127.0.0.1"]],
  "internal.test": [["10.1.2.3"]],
  "metadata.test": [["169.254.169.254"]],
  "public.test": [["93.184.216.34"]],
};

/** Calls a URL as a run does, and returns why it failed. */
async function call(url: string, rules: EgressRules): Promise<{ readonly code: string; readonly message: string }> {
  try {
    const endpoint = await guardEndpoint(url, rules);
    const client = new RemoteClient({ ...await remoteTask("http://1.1.1.1/"), endpoint, timeoutMs: 60_000 });
    await client.ask({ from: 0, first: 0, until: 1 }).finally(() => client.close());
    return { code: "", message: "the call succeeded" };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return error;
  }
}

Deno.test(`none of ${URLS.length} forbidden URLs reaches a canary`, async () => {
  await using canary = serveRaw(async () => {}, "0.0.0.0");
  await using canary6 = serveRaw(async () => {}, "::1", canary.port);
  const { lookup } = names(KNOWN);
  for (const url of URLS) {
    const { code, message } = await call(url.replaceAll("PORT", String(canary.port)), { allow: NOBODY, lookup });
    expect([url, code]).toEqual([url, "ENDPOINT_NOT_ALLOWED"]);
    expect(message).toMatch(/^Cannot call the endpoint .+: .+/);
    expect(message).not.toContain("secret");
  }
  expect([canary.connections(), canary6.connections()]).toEqual([0, 0]);
  // The canary counts connections: an allowed call reaches it.
  const allow = new Set([`127.0.0.1:${canary.port}`]);
  expect((await call(`http://127.0.0.1:${canary.port}/`, { allow })).code).toBe("ENDPOINT_FAILED");
  expect(canary.connections()).toBeGreaterThan(0);
});

Deno.test("addresses of this machine are closed, public or not", async () => {
  for (const { address } of Deno.networkInterfaces()) {
    const url = address.includes(":") ? `http://[${address}]/` : `http://${address}/`;
    if (!URL.canParse(url)) continue;
    expect((await call(url, { allow: NOBODY })).code).toBe("ENDPOINT_NOT_ALLOWED");
  }
});

Deno.test("the message gives the reason, and the log alone an address that a name has", async () => {
  const records: LogRecord[] = [];
  await configure({
    sinks: { records: (record) => void records.push(record) },
    loggers: [{ category: "hindcast", sinks: ["records"] }, { category: ["logtape", "meta"], lowestLevel: "fatal" }],
  });
  const { lookup } = names(KNOWN);
  const reason = async (url: string) => (await call(url, { allow: NOBODY, lookup })).message;
  expect(await reason("http://both.test/")).toBe(
    "Cannot call the endpoint both.test:80: it has an address that is not public",
  );
  // It is the same one for every such address, whose kind would tell of the operator's network.
  await reset();
  expect(records.map(({ message }) => message.join(""))).toEqual([
    "Refused the endpoint both.test:80: it resolves to 127.0.0.1, which is loopback",
  ]);
  for (const name of ["internal", "metadata", "mapped"]) {
    expect(await reason(`http://${name}.test/`)).toBe(
      `Cannot call the endpoint ${name}.test:80: it has an address that is not public`,
    );
  }
  expect(await reason("https://10.0.0.1/")).toBe("Cannot call the endpoint 10.0.0.1:443: it is private");
  expect(await reason("ftp://x.test/")).toBe(
    'Cannot call the endpoint "ftp://x.test/": use http or https, not ftp',
  );
});

Deno.test("a name is looked up once, so a later change of its address has no effect", async () => {
  await using canary = serveRaw(async () => {});
  const { lookup, lookups } = names({ "flips.test": [["127.0.0.2"], ["127.0.0.1"]] });
  const host = `flips.test:${canary.port}`;
  await using good = serveRaw(
    async (connection) => {
      await connection.read(new Uint8Array(65_536));
      await connection.write(new TextEncoder().encode('HTTP/1.0 200 OK\r\n\r\n{"version":1,"decisions":[[]]}'));
    },
    "127.0.0.2",
    canary.port,
  );
  const endpoint = await guardEndpoint(`http://${host}/`, { allow: new Set([host]), lookup });
  const client = new RemoteClient({ ...await remoteTask("http://1.1.1.1/"), endpoint });
  for (let i = 0; i < 3; i++) expect((await client.ask({ from: 0, first: 0, until: 1 })).decisions).toEqual([[]]);
  client.close();
  expect(lookups).toEqual(["flips.test"]);
  expect([good.connections(), canary.connections()]).toEqual([3, 0]);
  expect(permissionFor(endpoint)).toBe(`127.0.0.2:${canary.port}`);
});

Deno.test("redirects to forbidden URLs are not followed", async () => {
  await using canary = serveRaw(async () => {}, "0.0.0.0");
  const { lookup } = names(KNOWN);
  for (
    const target of URLS.map((url) => url.replaceAll("PORT", String(canary.port))).filter((url) =>
      /^\w+:\S+$/.test(url)
    )
  ) {
    // A header is ASCII: other characters are percent-encoded.
    const headers = { location: encodeURI(target) };
    await using endpoint = serveJson(() => new Response(null, { status: 307, headers }));
    const { host } = new URL(endpoint.url);
    const { code } = await call(endpoint.url, { allow: new Set([host]), lookup });
    expect([target, code]).toEqual([target, "ENDPOINT_FAILED"]);
  }
  expect(canary.connections()).toBe(0);
});

Deno.test("REMOTE_ENDPOINT_ALLOW opens the listed hosts and nothing else", async () => {
  const { lookup } = names({ ...KNOWN, "dev.test": [["192.168.7.7"]], "sub.dev.test": [["192.168.7.7"]] });
  const allow = new Set(["127.0.0.1:9000", "dev.test:80", "[::1]:9000", "localhost:9001"]);
  const open = async (url: string) => (await guardEndpoint(url, { allow, lookup })).address;
  expect(await open("http://127.0.0.1:9000/a?b=c")).toBe("127.0.0.1");
  expect(await open("http://2130706433:9000/")).toBe("127.0.0.1");
  expect(await open("http://DEV.test/")).toBe("192.168.7.7");
  expect(await open("http://[::1]:9000/")).toBe("::1");
  const shut = [
    "http://127.0.0.1:9001/",
    "http://127.0.0.2:9000/",
    "http://localhost:9000/",
    "http://loopback.test:9000/",
    "https://dev.test/",
    "http://192.168.7.7/",
    "http://sub.dev.test/",
    "http://[::ffff:127.0.0.1]:9000/",
    "http://user@127.0.0.1:9000/",
    "ftp://127.0.0.1:9000/",
  ];
  for (const url of shut) {
    expect([url, (await call(url, { allow, lookup })).code]).toEqual([url, "ENDPOINT_NOT_ALLOWED"]);
  }
});

Deno.test("a public name is pinned to one of its addresses, IPv4 first", async () => {
  const { lookup } = names({ "cdn.test": [["2606:4700::1", "1.0.0.1", "1.1.1.1"]], "six.test": [["2606:4700::1"]] });
  const endpoint = await guardEndpoint("https://cdn.test/hook?token=t#part", { allow: NOBODY, lookup });
  expect(endpoint).toEqual({
    url: "https://cdn.test/hook?token=t",
    host: "cdn.test:443",
    hostname: "cdn.test",
    address: "1.0.0.1",
    port: 443,
    secure: true,
  });
  expect(permissionFor(await guardEndpoint("http://six.test/", { allow: NOBODY, lookup }))).toBe("[2606:4700::1]:80");
});

Deno.test("a name without an address is the endpoint's failure", async () => {
  const { code, message } = await call("http://nobody.test/", { allow: NOBODY, lookup: names({}).lookup });
  expect([code, message]).toEqual([
    "ENDPOINT_FAILED",
    "Cannot look up the endpoint nobody.test:80: it has no address",
  ]);
});
