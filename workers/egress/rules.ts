import { describeForbidden, isAddress } from "./addresses.ts";

/**
 * The rules for a user's URL that need no look-up of its name. They are pure, so that a registration applies the same rules as
 * every call, and refuses at once.
 */

const URL_CHARACTERS_MAX = 2048;
// The ports that the Fetch standard blocks: services there could mistake an HTTP request for their own protocol.
const BAD_PORTS: ReadonlySet<number> = new Set(
  ("0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 " +
    "161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 " +
    "3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080").split(" ").map(Number),
);

/** The parts of a URL that may be called. */
interface Destination {
  /** Without fragment. */
  readonly url: URL;
  /** `name:port`, IPv6 in brackets, for messages and the list of what is allowed. */
  readonly host: string;
  /** Name or address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly secure: boolean;
  /** True when the settings allow it whatever it resolves to. */
  readonly isOpen: boolean;
}

/** The reason why a URL must not be called. */
interface Refusal {
  readonly host: string;
  /** For a sentence like "Cannot call the endpoint 10.0.0.1:80: it is private". */
  readonly reason: string;
}

/**
 * Judges a URL by its text alone: a name in it may still resolve to a forbidden address.
 *
 * @param allow `host:port` pairs that may be called: lower case, IPv6 in brackets.
 */
export function judgeUrl(text: string, allow: ReadonlySet<string>): Destination | Refusal {
  const url = parseUrl(text);
  if ("reason" in url) return url;
  const secure = url.protocol === "https:";
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  const hostname = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const host = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
  const isOpen = allow.has(host);
  const reason = isOpen ? null : findReason(hostname, port);
  return reason === null ? { url, host, hostname, port, secure, isOpen } : { host, reason };
}

const SERVED = /^serve:([a-z0-9][a-z0-9-]{0,62})$/;

/** True for `serve:NAME`: an endpoint that is no URL, since its programs fetch their requests. */
export function isServedName(endpoint: string): boolean {
  return SERVED.test(endpoint);
}

/** The name in `serve:NAME`. @throws Error for another text. */
export function servedNameOf(endpoint: string): string {
  const [, name] = SERVED.exec(endpoint) ?? [];
  if (name === undefined) {
    throw new Error(`Cannot find a name in the endpoint ${JSON.stringify(endpoint.slice(0, 100))}`);
  }
  return name;
}

function findReason(hostname: string, port: number): string | null {
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return "it is the service's own machine";
  if (BAD_PORTS.has(port)) return `port ${port} is reserved for another protocol`;
  const description = isAddress(hostname) ? describeForbidden(hostname) : null;
  return description === null ? null : `it is ${description}`;
}

function parseUrl(text: string): URL | Refusal {
  const host = JSON.stringify(text.slice(0, 100));
  if (text.length > URL_CHARACTERS_MAX) {
    return { host, reason: `its URL has ${text.length} characters, the limit is ${URL_CHARACTERS_MAX}` };
  }
  if (!URL.canParse(text)) return { host, reason: "it is not a URL" };
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return { host, reason: `use http or https, not ${url.protocol.slice(0, -1)}` };
  }
  if (url.username !== "" || url.password !== "") {
    return { host: url.host, reason: "its URL contains a user name or password" };
  }
  url.hash = "";
  return url;
}
