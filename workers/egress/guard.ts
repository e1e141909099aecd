import { lookup as lookUp } from "node:dns/promises";
import { describeForbidden, isAddress } from "./addresses.ts";
import { judgeUrl } from "./rules.ts";
import type { PinnedEndpoint } from "../protocol.ts";
import { RunError } from "../outcome.ts";

const LOOKUP_MS_MAX = 5000;

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
  const judged = judgeUrl(text, allow);
  if ("reason" in judged) throw notAllowed(judged.host, judged.reason);
  const { url, host, hostname, port, secure, isOpen } = judged;
  const addresses = isAddress(hostname) ? [hostname] : await findAddresses(host, hostname, lookup);
  if (!isOpen) checkAddresses(host, hostname, addresses);
  // IPv4 first: many machines have no way out over IPv6.
  const address = addresses.find((one) => !one.includes(":")) ?? addresses[0]!;
  return { url: url.href, host, hostname, address, port, secure };
}

/** The permission that lets a sandbox connect to an endpoint and to nothing else, as Deno spells it. */
export function permissionFor({ address, port }: PinnedEndpoint): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
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
