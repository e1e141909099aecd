import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * The token of a session's cookie, as the authentication library signs it: `TOKEN.HMAC`, URL-encoded, the HMAC-SHA-256 in base64.
 *
 * @param header The request's Cookie header.
 * @param name The cookie's; the first of that name counts.
 * @returns Undefined without such a cookie, or where the signature is not of this secret.
 */
export function readSessionToken(header: string, name: string, secret: string): string | undefined {
  const prefix = `${name}=`;
  const encoded = header.split(";").map((part) => part.trim()).find((part) => part.startsWith(prefix));
  if (encoded === undefined) return undefined;
  const value = decode(encoded.slice(prefix.length));
  const end = value.lastIndexOf(".");
  const token = value.slice(0, Math.max(0, end));
  const given = Buffer.from(value.slice(end + 1));
  const signature = Buffer.from(createHmac("sha256", secret).update(token).digest("base64"));
  if (token === "" || given.length !== signature.length) return undefined;
  return timingSafeEqual(given, signature) ? token : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
