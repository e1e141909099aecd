import { lookup as lookUp } from "node:dns/promises";
import { describeForbidden, isAddress } from "./egress_addresses.ts";
import type { PinnedEndpoint } from "./protocol.ts";
import { RunError } from "./run_error.ts";

const URL_CHARACTERS_MAX = 2048;
const LOOKUP_MS_MAX = 5000;
// Ports of services that would take an HTTP request for something else: those that the Fetch standard blocks.
const BAD_PORTS: ReadonlySet<number> = new Set(
  ("0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 " +
    "161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 " +
    "3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080").split(" ").map(Number),
);

/** All addresses of a name, as the system finds them now. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** What decides where a user's URL may lead. */
export interface EgressRules {
  /** `host:port` pairs that are open whatever they resolve to, in lower case; IPv6 in brackets. */
  readonly allow: ReadonlySet<string>;
  /** Stands in for the system's resolver. */
  readonly lookup?: Lookup;
}

/**
 * Checks where a user's URL leads and pins it to one address.
 *
 * The name is looked up once, here. Every address that it has must be public, or none is used; whoever calls the endpoint
 * connects to the pinned address and never asks for the name again, so a name that means something else a moment later
 * gains nothing.
 *
 * @throws {RunError} ENDPOINT_NOT_ALLOWED with the reason; ENDPOINT_FAILED when the name has no address.
 */
export async function guardEndpoint(text: string, { allow, lookup = lookUpAll }: EgressRules): Promise<PinnedEndpoint> {
  const url = parseEndpoint(text);
  const secure = url.protocol === "https:";
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  const hostname = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const host = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
  const open = allow.has(host);
  if (!open) {
    if (hostname === "localhost" || hostname.endsWith(".localhost")) throw notAllowed(host, "it is this machine");
    if (BAD_PORTS.has(port)) throw notAllowed(host, `port ${port} belongs to another kind of service`);
  }
  const addresses = isAddress(hostname) ? [hostname] : await findAddresses(host, hostname, lookup);
  if (!open) checkAddresses(host, hostname, addresses);
  // IPv4 first: many machines have no way out over IPv6.
  const address = addresses.find((one) => !one.includes(":")) ?? addresses[0]!;
  return { url: url.href, host, hostname, address, port, secure };
}

/** The permission that lets a sandbox connect to an endpoint and to nothing else, as Deno spells it. */
export function permissionFor({ address, port }: PinnedEndpoint): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

function parseEndpoint(text: string): URL {
  const shown = JSON.stringify(text.slice(0, 100));
  if (text.length > URL_CHARACTERS_MAX) {
    throw notAllowed(shown, `its URL has ${text.length} characters, and ${URL_CHARACTERS_MAX} are the most`);
  }
  if (!URL.canParse(text)) throw notAllowed(shown, "it is no URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw notAllowed(shown, `only http and https are spoken, not ${url.protocol.slice(0, -1)}`);
  }
  if (url.username !== "" || url.password !== "") throw notAllowed(url.host, "its URL carries a user name or password");
  url.hash = "";
  return url;
}

async function findAddresses(host: string, hostname: string, lookup: Lookup): Promise<readonly string[]> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${LOOKUP_MS_MAX} ms`)), LOOKUP_MS_MAX);
  try {
    const addresses = await Promise.race([lookup(hostname), late.promise]);
    if (addresses.length > 0) return addresses;
    throw new Error("it has no address");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RunError("ENDPOINT_FAILED", `Cannot look up the endpoint ${host}: ${reason}`);
  } finally {
    clearTimeout(timer);
  }
}

async function lookUpAll(hostname: string): Promise<readonly string[]> {
  const found = await lookUp(hostname, { all: true });
  return found.map(({ address }) => address);
}

/** @throws {RunError} When any address is not public: a name with a public and a private one is a trap, not an accident. */
function checkAddresses(host: string, hostname: string, addresses: readonly string[]): void {
  const own = new Set(Deno.networkInterfaces().map(({ address }) => address));
  for (const address of addresses) {
    const what = own.has(address) && describeForbidden(address) === null
      ? "this machine's own address"
      : describeForbidden(address);
    if (what === null) continue;
    throw notAllowed(host, address === hostname ? `that is ${what}` : `it leads to ${address}, which is ${what}`);
  }
}

function notAllowed(host: string, reason: string): RunError {
  return new RunError("ENDPOINT_NOT_ALLOWED", `Cannot call the endpoint ${host}: ${reason}`);
}
