import { BlockList, isIP } from "node:net";
import type { Context as HonoContext } from "hono";
import { getConnInfo } from "hono/deno";

/** Addresses and networks (`10.0.0.0/8`, `fd00::/8`) of proxies whose X-Forwarded-For is trusted. */
type TrustedProxies = BlockList;

/** Reads a list of addresses and networks. @throws {RangeError} With the entry that is neither. */
export function parseTrustedProxies(entries: readonly string[]): TrustedProxies {
  const proxies = new BlockList();
  for (const entry of entries) {
    const [address = "", bits, ...rest] = entry.split("/");
    const version = isIP(address);
    const bitsMax = version === 4 ? 32 : 128;
    const length = bits === undefined ? bitsMax : /^\d{1,3}$/.test(bits) ? Number(bits) : NaN;
    if (version === 0 || rest.length > 0 || !(length <= bitsMax)) {
      throw new RangeError(`${entry} is neither an address nor a network`);
    }
    proxies.addSubnet(address, length, version === 4 ? "ipv4" : "ipv6");
  }
  return proxies;
}

/**
 * The caller's address: the peer of the connection or, behind a trusted proxy, the last address in X-Forwarded-For that is no trusted
 * proxy. A client can forge the addresses before that one.
 *
 * @returns Empty without a connection, as in a test without a socket.
 */
export function findClientAddress(c: HonoContext, proxies: TrustedProxies): string {
  const info: unknown = c.env;
  if (typeof info !== "object" || info === null || !("remoteAddr" in info)) return "";
  let address = getConnInfo(c).remote.address ?? "";
  const hops = (c.req.header("x-forwarded-for") ?? "").split(",").map((hop) => plainAddress(hop.trim()));
  while (isTrusted(plainAddress(address), proxies)) {
    const hop = hops.pop();
    if (hop === undefined || isIP(hop) === 0) break;
    address = hop;
  }
  return plainAddress(address);
}

/** The key of one caller: an IPv4 address, or the /64 network of an IPv6 address, which one customer has. */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...new Array<string>(zeros).fill("0"), ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

function isTrusted(address: string, proxies: TrustedProxies): boolean {
  const version = isIP(address);
  return version !== 0 && proxies.check(address, version === 4 ? "ipv4" : "ipv6");
}

// A dual-stack socket shows IPv4 callers as ::ffff:1.2.3.4.
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}
