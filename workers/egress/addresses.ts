/**
 * Which addresses a user's URL may lead to: public ones, and nothing that is special in any way.
 *
 * @see IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its successors).
 */

type Groups = readonly number[];

/** First address, prefix length, what it is. */
type Range4 = readonly [base: string, prefixBits: number, what: string];
type Range6 = readonly [groups: Groups, prefixBits: number, what: string];

const RANGES_4: readonly Range4[] = [
  ["0.0.0.0", 8, "this network"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "shared between carriers (CGNAT)"],
  ["127.0.0.0", 8, "loopback"],
  ["168.63.129.16", 32, "a cloud's metadata service"],
  ["169.254.0.0", 16, "link-local"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "reserved for protocols"],
  ["192.0.2.0", 24, "for documentation"],
  ["192.31.196.0", 24, "reserved for AS112"],
  ["192.52.193.0", 24, "reserved for AMT"],
  ["192.88.99.0", 24, "a 6to4 relay"],
  ["192.168.0.0", 16, "private"],
  ["192.175.48.0", 24, "reserved for AS112"],
  ["198.18.0.0", 15, "for benchmarks"],
  ["198.51.100.0", 24, "for documentation"],
  ["203.0.113.0", 24, "for documentation"],
  ["224.0.0.0", 4, "multicast"],
  ["240.0.0.0", 4, "reserved"],
];

// Of IPv6 only 2000::/3 is public, less these; the names of what lies outside are for the message alone.
const RANGES_6: readonly Range6[] = [
  [[0x2001], 23, "reserved for protocols (Teredo and others)"],
  [[0x2001, 0xdb8], 32, "for documentation"],
  [[0x2002], 16, "an IPv4 address in 6to4"],
  [[0x2620, 0x4f, 0x8000], 48, "reserved for AS112"],
  [[0x3fff], 20, "for documentation"],
];
const NAMES_6: readonly Range6[] = [
  [[0, 0, 0, 0, 0, 0, 0, 1], 128, "loopback"],
  [[0, 0, 0, 0, 0, 0xffff], 96, "an IPv4 address mapped into IPv6"],
  [[0x64, 0xff9b], 32, "an IPv4 address behind NAT64"],
  [[0xfc00], 7, "private"],
  [[0xfe80], 10, "link-local"],
  [[0xff00], 8, "multicast"],
];

/**
 * Why nothing may be sent to an address.
 *
 * @param address IPv4 in four decimal numbers or IPv6, without brackets.
 * @returns What the address is, for a sentence like "10.0.0.1 is private"; null where it is public.
 */
export function describeForbidden(address: string): string | null {
  const octets = parseAddress4(address);
  if (octets !== null) return RANGES_4.find((range) => isWithin4(octets, range))?.[2] ?? null;
  const groups = parseAddress6(address);
  if (groups === null) return "no IP address";
  if (isWithin(groups, [0x2000], 3, 16)) {
    return RANGES_6.find(([base, bits]) => isWithin(groups, base, bits, 16))?.[2] ?? null;
  }
  return NAMES_6.find(([base, bits]) => isWithin(groups, base, bits, 16))?.[2] ?? "not a public address";
}

/** Whether a text is an IP address, IPv4 in four decimal numbers or IPv6 without brackets. */
export function isAddress(text: string): boolean {
  return parseAddress4(text) !== null || parseAddress6(text) !== null;
}

function isWithin4(octets: Groups, [base, prefixBits]: Range4): boolean {
  return isWithin(octets, base.split(".").map(Number), prefixBits, 8);
}

/** Whether two lists of numbers agree in their first bits; numbers that `base` leaves out are 0. */
function isWithin(address: Groups, base: Groups, prefixBits: number, groupBits: number): boolean {
  for (let i = 0; i * groupBits < prefixBits; i++) {
    const unusedBits = Math.max(0, (i + 1) * groupBits - prefixBits);
    if (address[i]! >> unusedBits !== (base[i] ?? 0) >> unusedBits) return false;
  }
  return true;
}

function parseAddress4(text: string): Groups | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return null;
  return parts.map(Number);
}

/** The eight groups of an IPv6 address; null for anything else, an address with a zone (`%eth0`) included. */
function parseAddress6(text: string): Groups | null {
  if (!/^[0-9a-f:.]+$/i.test(text) || !text.includes(":") || !URL.canParse(`http://[${text}]/`)) return null;
  // The URL parser knows every spelling and leaves one: hexadecimal groups with at most one "::".
  const [head = "", tail] = new URL(`http://[${text}]/`).hostname.slice(1, -1).split("::");
  const read = (part: string) => part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const [first, last] = [read(head), read(tail ?? "")];
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last];
}
