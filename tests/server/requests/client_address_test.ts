import { expect } from "@std/expect";
import { Hono } from "hono";
import { addressGroup, findClientAddress, parseTrustedProxies } from "../../../server/requests/client_address.ts";

async function addressOf(peer: string, forwarded: string | undefined, trusted: readonly string[]): Promise<string> {
  const proxies = parseTrustedProxies(trusted);
  const app = new Hono().get("/", (c) => c.text(findClientAddress(c, proxies)));
  const headers = new Headers(forwarded === undefined ? {} : { "x-forwarded-for": forwarded });
  const remoteAddr = { transport: "tcp", hostname: peer, port: 1 };
  return await (await app.request("/", { headers }, { remoteAddr })).text();
}

Deno.test("a header is not believed unless a trusted proxy sent it", async () => {
  expect(await addressOf("203.0.113.9", "198.51.100.1", [])).toBe("203.0.113.9");
  expect(await addressOf("203.0.113.9", "198.51.100.1", ["10.0.0.0/8"])).toBe("203.0.113.9");
  expect(await addressOf("10.1.2.3", "198.51.100.1", ["10.0.0.0/8"])).toBe("198.51.100.1");
  expect(await addressOf("::ffff:10.1.2.3", "198.51.100.1", ["10.0.0.0/8"])).toBe("198.51.100.1");
});

Deno.test("behind several proxies the last address that is none of them counts; what a client wrote before it does not", async () => {
  const trusted = ["10.0.0.0/8", "fd00::/8", "192.0.2.7"];
  expect(await addressOf("10.0.0.1", "1.1.1.1, 198.51.100.1, fd00::5, 192.0.2.7", trusted)).toBe("198.51.100.1");
  expect(await addressOf("10.0.0.1", undefined, trusted)).toBe("10.0.0.1");
  expect(await addressOf("10.0.0.1", "nonsense", trusted)).toBe("10.0.0.1");
  expect(await addressOf("10.0.0.1", "198.51.100.1, nonsense, 10.0.0.2", trusted)).toBe("10.0.0.2");
});

Deno.test("a list with anything else is refused", () => {
  for (const entry of ["proxy.example", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "fd00::/129"]) {
    expect(() => parseTrustedProxies([entry])).toThrow(`${entry} is neither`);
  }
});

Deno.test("an IPv6 customer is one caller, whatever address of their network they use", () => {
  expect(addressGroup("192.0.2.1")).toBe("192.0.2.1");
  expect(addressGroup("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
  expect(addressGroup("2001:0db8:1:2::9")).toBe("2001:db8:1:2::/64");
  expect(addressGroup("2001:db8::9")).toBe("2001:db8:0:0::/64");
  expect(addressGroup("::1")).toBe("0:0:0:0::/64");
  expect(addressGroup("")).toBe("");
});
