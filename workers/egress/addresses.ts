import { BlockList, isIP } from "node:net";

/**
 * Subnets that a user's URL must not lead to, by what they are. The first row that holds an address describes it.
 *
 * @see IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its successors).
 */
const FORBIDDEN = ([
  ["this network", "0.0.0.0/8"],
  ["private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
  ["shared between carriers (CGNAT)", "100.64.0.0/10"],
  ["loopback", "127.0.0.0/8", "::1/128"],
  ["a cloud's metadata service", "168.63.129.16/32"],
  ["link-local", "169.254.0.0/16", "fe80::/10"],
  ["for documentation", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"],
  ["reserved for protocols", "192.0.0.0/24"],
  ["reserved for protocols (Teredo and others)", "2001::/23"],
  ["reserved for AS112", "192.31.196.0/24", "192.175.48.0/24", "2620:4f:8000::/48"],
  ["reserved for AMT", "192.52.193.0/24"],
  ["a 6to4 relay", "192.88.99.0/24"],
  ["for benchmarks", "198.18.0.0/15"],
  ["multicast", "224.0.0.0/4", "ff00::/8"],
  ["reserved", "240.0.0.0/4"],
  ["an IPv4 address mapped into IPv6", "::ffff:0:0/96"],
  ["an IPv4 address behind NAT64", "64:ff9b::/32"],
  ["an IPv4 address in 6to4", "2002::/16"],
] as const).map(([description, ...subnets]) => ({ description, ...listSubnets(subnets) }));

// check() answers false for a text that it cannot parse, so an address is open only if it is found here.
const PUBLIC = listSubnets(["0.0.0.0/0", "2000::/3"]);

/**
 * Says why nothing may be sent to an address.
 *
 * @param address IPv4 in four decimal numbers or IPv6, without brackets.
 * @returns A description for a sentence like "10.0.0.1 is private"; null when the address is public.
 */
export function describeForbidden(address: string): string | null {
  if (!isAddress(address)) return "not an IP address";
  const family = isIP(address) === 4 ? "ipv4" : "ipv6";
  const forbidden = FORBIDDEN.find((row) => row[family].check(address, family));
  if (forbidden !== undefined) return forbidden.description;
  return PUBLIC[family].check(address, family) ? null : "not a public address";
}

/** Tells an IP address from a name: IPv4 in four decimal numbers, or IPv6 without brackets and zone (`%eth0`). */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes("%");
}

/** One list for each family: a list of both would compare IPv4 addresses with subnets of mapped addresses. */
function listSubnets(subnets: readonly string[]): { readonly ipv4: BlockList; readonly ipv6: BlockList } {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const subnet of subnets) {
    const [base = "", prefixBits] = subnet.split("/");
    const family = isIP(base) === 4 ? "ipv4" : "ipv6";
    lists[family].addSubnet(base, Number(prefixBits), family);
  }
  return lists;
}
