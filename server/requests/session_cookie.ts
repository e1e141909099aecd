import { constantTimeEqual, makeSignature } from "better-auth/crypto";

/**
 * The token of a session's cookie, as the authentication library signs it: `TOKEN.HMAC`, URL-encoded, the HMAC-SHA-256 in base64. Some
 * clients send it in quotes.
 *
 * @param header The request's Cookie header.
 * @param name The cookie's; the first of that name counts.
 * @returns Undefined without such a cookie, or where the signature is not of this secret.
 */
export async function readSessionToken(header: string, name: string, secret: string): Promise<string | undefined> {
  const prefix = `${name}=`;
  const encoded = header.split(";").map((part) => part.trim()).find((part) => part.startsWith(prefix));
  if (encoded === undefined) return undefined;
  const value = decode(encoded.slice(prefix.length).replace(/^"(.*)"$/, "$1"));
  const end = value.lastIndexOf(".");
  const token = value.slice(0, Math.max(0, end));
  if (token === "") return undefined;
  return constantTimeEqual(value.slice(end + 1), await makeSignature(token, secret)) ? token : undefined;
}

/**
 * The same cookies, those of the authentication library signed anew where another secret has signed them.
 *
 * @param header The request's Cookie header.
 * @param secrets `old` signed the cookies of before, `current` signs those that are returned.
 */
export async function signAnew(
  header: string,
  { old, current }: { readonly old: string; readonly current: string },
): Promise<string> {
  const parts = header.split(";").map(async (part) => {
    const [, name = ""] = OWN_COOKIE.exec(part) ?? [];
    const token = name === "" ? undefined : await readSessionToken(part, name, old);
    if (token === undefined) return part;
    return ` ${name}=${encodeURIComponent(`${token}.${await makeSignature(token, current)}`)}`;
  });
  return (await Promise.all(parts)).join(";").trim();
}

// The library names its cookies so, the first way over https.
const OWN_COOKIE = /^\s*((?:__Secure-)?better-auth\.[^=]+)=/;

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
