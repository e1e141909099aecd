import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { CommandError, EXIT } from "../exit_codes.ts";
import { warn } from "../terminal.ts";
import { type Caller, readRefusal } from "./caller.ts";

const HEADERS = { "content-type": "application/json" };
// RFC 8628, section 3.5: what a program adds where it asks too often.
const SLOWER_S = 5;

const begunSchema = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri_complete: z.string(),
  interval: z.number(),
});
const tokenSchema = z.object({ access_token: z.string() });
const waitingSchema = z.object({ error: z.string(), error_description: z.string() });

/**
 * Signs in by a code that a person confirms in a browser, on this machine or another (RFC 8628).
 *
 * @param caller The service, without a token.
 * @param asked.name Of the token that is made.
 * @returns The token.
 * @throws CommandError where the person refused, or did not answer in time.
 */
export async function loginByBrowser(
  { send, url }: Caller,
  asked: { readonly name: string; readonly scope: string },
): Promise<string> {
  const request = { method: "POST", headers: HEADERS };
  const { name: client_id, scope } = asked;
  const begun = await send("/api/auth/device/code", { ...request, body: JSON.stringify({ client_id, scope }) });
  const { device_code, user_code, verification_uri_complete, interval } = begunSchema.parse(await begun.json());
  warn(`Open ${verification_uri_complete} in a browser, and confirm the code ${user_code}.`);
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const body = JSON.stringify({ grant_type, device_code, client_id });
  for (let seconds = interval;;) {
    await wait(seconds * 1000);
    const answer = await fetch(`${url}/api/auth/device/token`, { ...request, body }).catch(() => undefined);
    // A service that starts again, or a proxy in front of it: the code is valid all the same.
    if (answer === undefined || answer.status >= 500) continue;
    if (answer.ok) return tokenSchema.parse(await answer.json()).access_token;
    const { data } = waitingSchema.safeParse(await answer.clone().json().catch(() => undefined));
    if (data === undefined) throw await readRefusal(answer);
    await answer.body?.cancel();
    if (data.error === "slow_down") seconds += SLOWER_S;
    else if (data.error !== "authorization_pending") {
      const { error: code, error_description: says } = data;
      const why = code === "access_denied" ? "it was denied in the browser" : says;
      throw new CommandError(`Cannot sign in: ${why}`, EXIT.forbidden, { code });
    }
  }
}
