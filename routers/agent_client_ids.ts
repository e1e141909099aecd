/** Programs that register themselves to be signed in (RFC 7591). Nothing is stored: a program's id is its registration, signed. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { mustBe } from "./common/errors.ts";
import { NO_LINE, plainText } from "./common/plain_text.ts";

const NAME_LENGTH_MAX = 100;
const ADDRESSES_MAX = 5;
const ADDRESS_LENGTH_MAX = 300;
/** Longest id: addresses of the browser have room for it. */
export const CLIENT_ID_LENGTH_MAX = 4096;

/** Where the browser takes a person's answer. */
const redirectUri = z.string().max(ADDRESS_LENGTH_MAX).refine(
  isRedirect,
  mustBe(
    "an https address, an http address of this computer (http://127.0.0.1/...), or one of a program's own scheme " +
      "(my-editor://...), without user, password or #",
  ),
);

/** A registration; its other fields are for programs that need a secret. */
export const clientSchema = z.object({
  client_name: plainText(NO_LINE, NAME_LENGTH_MAX).pipe(z.string().min(1)).default("A program without a name"),
  redirect_uris: z.array(redirectUri).min(1).max(ADDRESSES_MAX),
});

/** A program that asks to be signed in. Its name is its own word, which nobody has checked. */
export type AgentClient = z.infer<typeof clientSchema>;

/** The id of a program: its registration with our signature. */
export function writeClientId(key: string, { client_name, redirect_uris }: AgentClient): string {
  const content = Buffer.from(JSON.stringify([client_name, ...redirect_uris])).toString("base64url");
  return `${content}.${sign(key, content).toString("base64url")}`;
}

const contentSchema = z.tuple([z.string()], z.string());

/** The program that an id stands for; undefined for an id that this service has not given. */
export function readClientId(key: string, id: string): AgentClient | undefined {
  const [content, signature, ...rest] = id.split(".");
  if (content === undefined || signature === undefined || rest.length > 0) return undefined;
  const given = Buffer.from(signature, "base64url");
  const own = sign(key, content);
  if (given.length !== own.length || !timingSafeEqual(new Uint8Array(given), new Uint8Array(own))) return undefined;
  const [client_name, ...redirect_uris] = contentSchema.parse(JSON.parse(Buffer.from(content, "base64url").toString()));
  return { client_name, redirect_uris };
}

/** True if a program registered an address. A program on the person's computer may listen on any port (RFC 8252, 7.3). */
export function isRegistered({ redirect_uris }: AgentClient, address: string): boolean {
  if (redirect_uris.includes(address)) return true;
  return isRedirect(address) && isLoopback(new URL(address)) &&
    redirect_uris.some((each) => isLoopback(new URL(each)) && withoutPort(each) === withoutPort(address));
}

/** True for an address on the person's own computer. */
export function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
}

// Browsers open, run or read these themselves.
const BROWSERS_OWN = new Set(
  "http ws wss ftp file javascript vbscript data blob about filesystem view-source chrome resource jar mailto tel sms intent"
    .split(" ").map((scheme) => `${scheme}:`),
);

function isRedirect(text: string): boolean {
  if (!URL.canParse(text) || text.includes("#") || /[\s\p{Cc}]/u.test(text)) return false;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "" || !url.href.startsWith(`${url.protocol}//`)) return false;
  return isLoopback(url) || !BROWSERS_OWN.has(url.protocol);
}

function withoutPort(address: string): string {
  const url = new URL(address);
  url.port = "";
  return url.href;
}

function sign(key: string, content: string) {
  // Its own key, so that no other signature of the service passes as one of these.
  return createHmac("sha256", `agents ${key}`).update(content).digest();
}
