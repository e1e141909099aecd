import { getLogger } from "@logtape/logtape";
import { lookup as lookUp } from "node:dns/promises";
import { describeForbidden, isAddress } from "./addresses.ts";
import { judgeUrl } from "./rules.ts";
import type { PinnedEndpoint } from "../common/remote_task.ts";
import { RunError } from "../common/outcome.ts";
import type { Relay } from "../served/relay.ts";

const LOOKUP_MS_MAX = 5000;

const log = getLogger(["hindcast", "egress"]);

/** Finds all addresses of a name. */
type Lookup = (hostname: string) => Promise<readonly string[]>;

/** The settings that decide where a user's URL may lead. */
export interface EgressRules {
  /** `host:port` pairs that may be called whatever they resolve to: lower case, IPv6 in brackets. */
  readonly allow: ReadonlySet<string>;
  /** Reaches endpoints that fetch their requests. */
  readonly relay?: Relay;
  /** Replaces the system's resolver. */
  readonly lookup?: Lookup;
}

/**
 * Checks where a user's URL leads and pins it to one address.
 *
 * The name is looked up once, here, and every address that it has must be public. Callers connect to the pinned address and never
 * look the name up again, so an attacker gains nothing by changing what the name resolves to.
 *
 * @throws {RunError} ENDPOINT_NOT_ALLOWED with the reason; ENDPOINT_FAILED when the name has no address.
 */
export async function guardEndpoint(text: string, { allow, lookup = lookUpAll }: EgressRules): Promise<PinnedEndpoint> {
  const judged = judgeUrl(text, allow);
  if ("reason" in judged) throw notAllowed(judged.host, judged.reason);
  const { url, host, hostname, port, secure, isOpen } = judged;
  const addresses = isAddress(hostname) ? [hostname] : await findAddresses(host, hostname, lookup);
  if (!isOpen) checkAddresses(host, hostname, addresses);
  // IPv4 first: many machines have no route over IPv6.
  const address = addresses.find((one) => !one.includes(":")) ?? addresses[0]!;
  return { url: url.href, host, hostname, address, port, secure };
}

/** The value of Deno's `net` permission that lets a sandbox connect to this endpoint alone. */
export function permissionFor({ address, port }: PinnedEndpoint): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

async function findAddresses(host: string, hostname: string, lookup: Lookup): Promise<readonly string[]> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new Error(`no answer within ${LOOKUP_MS_MAX} ms`)), LOOKUP_MS_MAX);
  try {
    const addresses = await Promise.race([lookup(hostname), timeout.promise]);
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

/** @throws {RunError} When any address is not public: a name with a public and a private address is an attack. */
function checkAddresses(host: string, hostname: string, addresses: readonly string[]): void {
  const own = new Set(Deno.networkInterfaces().map(({ address }) => address));
  for (const address of addresses) {
    const description = describeForbidden(address) ?? (own.has(address) ? "this machine's own address" : null);
    if (description === null) continue;
    if (address === hostname) throw notAllowed(host, `it is ${description}`);
    // The address, and what kind it is, would map the operator's network for users who own a name.
    log.warn("Refused the endpoint {host}: it resolves to {address}, which is {description}", {
      host,
      address,
      description,
    });
    throw notAllowed(host, "it has an address that is not public");
  }
}

function notAllowed(host: string, reason: string): RunError {
  return new RunError("ENDPOINT_NOT_ALLOWED", `Cannot call the endpoint ${host}: ${reason}`);
}
