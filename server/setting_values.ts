/** The kinds of values that settings have, as they are read from text. */
import { z } from "zod";
import { parseTrustedProxies } from "./requests/client_address.ts";

/** A whole number within bounds. */
export const wholeNumber = (least: number, most: number) =>
  z.string().regex(/^\d{1,15}$/, { error: `must be a whole number` }).transform(Number)
    .pipe(
      z.number().int().min(least, { error: `must be at least ${least}` }).max(most, {
        error: `must be at most ${most}`,
      }),
    );

/** An origin without a slash at its end. */
export const webOrigin = z.string().refine((text) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text.replace(/\/$/, "");
}, { error: "must be an origin such as https://app.example.com, without a path" }).transform((text) =>
  text.replace(/\/$/, "")
);

/** The parts of a comma-separated list. */
export const splitList = (text: string) => text.split(",").map((part) => part.trim()).filter((part) => part !== "");

/** Addresses and networks of proxies. */
export const proxyList = z.string().default("").transform(splitList).superRefine((entries, context) => {
  try {
    parseTrustedProxies(entries);
  } catch {
    context.addIssue("must be addresses or networks such as 10.0.0.0/8, separated by commas");
  }
});

/** A host with its port, in lower case. */
export const hostPort = z.string().regex(/^(\[[0-9a-fA-F:]+\]|[^\s:/]+):\d{1,5}$/, {
  error: "must be host:port pairs, separated by commas",
}).refine((text) => isPort(Number(/\d+$/.exec(text)?.[0])), { error: "must have ports from 1 to 65535" }).toLowerCase();

/** An address to listen on: a host and a port other than 0. */
export const listenAddress = z.string().regex(/^(\[[0-9a-fA-F:.]+\]|[^\s:/]+):\d{1,5}$/, {
  error: "must be host:port, such as 127.0.0.1:9464",
}).transform((text) => {
  const colon = text.lastIndexOf(":");
  return { hostname: text.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(text.slice(colon + 1)) };
}).refine(({ port }) => isPort(port), { error: "must have a port from 1 to 65535" });

/** A server of mails. */
export const smtpUrl = z.string().transform((text) => URL.parse(text)).refine(
  (url): url is URL => url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== "",
  { error: "must be of the form smtp://user:password@host:port or smtps://user:password@host:port" },
).refine(({ username, password }) => isDecodable(username) && isDecodable(password), {
  error: "must have %25 for each % of the user and the password",
});

/** The address of a provider of identities. */
export const issuerUrl = z.string().refine((text) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" && url.username === "";
}, { error: "must be an address such as https://id.example.com/realms/team" });

/** The runtime separates the paths of a permission by commas and has no escape for them. */
export const pathWithoutComma = z.string().regex(/^[^,]*$/, { error: "must be a path without a comma" });

function isPort(number: number): boolean {
  return number > 0 && number < 65_536;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
