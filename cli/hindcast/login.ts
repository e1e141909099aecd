import { z } from "zod";
import { SERVICE_URL } from "../invocation.ts";
import { loginPath, removeLogin, writeLogin } from "../login_file.ts";
import { type Caller, callerOf, calling } from "./caller.ts";
import { callerFor, outputFor, print, serviceCommand } from "./command.ts";
import { loginByBrowser } from "./browser_login.ts";
import { usageError } from "../exit_codes.ts";
import { askHidden, readAll } from "./questions.ts";

const SCOPES = ["serve", "read", "run", "admin"] as const;
const madeSchema = z.object({ secret: z.string() });

/** `hindcast login`. */
export const loginCommand = serviceCommand(
  "login",
  "Sign in to a service through a browser, and keep it for later commands",
)
  .argument("[address]", `the service's address (default: ${SERVICE_URL})`)
  .option("--with-token", "read a token from standard input")
  .option("--email <email>", "sign in with a password in place of the browser")
  .option("--scope <scope>", `what later commands may do: ${SCOPES.join(", ")}`, "run")
  .action(async (address, { withToken, email, scope, ...options }) => {
    const url = readAddress(address ?? options.url ?? (Deno.env.get("HINDCAST_URL") || SERVICE_URL));
    if (withToken === true && email !== undefined) {
      throw usageError("Cannot use both --with-token and --email: choose one");
    }
    if (!SCOPES.some((known) => known === scope)) {
      throw usageError(`Cannot use --scope ${scope}: it must be one of ${SCOPES.join(", ")}`);
    }
    const token = withToken === true
      ? (await readAll()).trim()
      : email === undefined
      ? await loginByBrowser(callerOf(url, undefined), { name: nameToken(), scope })
      : await makeToken(url, { email, scope });
    const caller = callerOf(url, token);
    const answer = await calling(caller, caller.api.session.get.query());
    writeLogin({ url, token });
    const isHidden = (Deno.env.get("HINDCAST_TOKEN") || token) !== token;
    print(
      outputFor(options),
      { url, ...answer },
      `Signed in to ${url} as ${answer.user.email}. ${loginPath()} keeps the token.` +
        (isHidden ? " Unset HINDCAST_TOKEN: it counts before the saved login." : ""),
    );
  });

/** `hindcast logout`. */
export const logoutCommand = serviceCommand("logout", "Forget the service and its token").action((options) => {
  const removed = removeLogin();
  print(
    outputFor(options),
    { removed },
    removed
      ? "Signed out here. The token itself stays valid: the console's Account page revokes it."
      : "Nobody was signed in.",
  );
});

/** `hindcast whoami`. */
export const whoamiCommand = serviceCommand("whoami", "Say who is signed in, where, and with which scope")
  .action(async (options) => {
    const caller = callerFor(options);
    const answer = await calling(caller, caller.api.session.get.query());
    const { user, session } = answer;
    const until = session.expires_at.slice(0, 10);
    const text = `${user.email} (${user.role}) at ${caller.url}, scope ${session.scope ?? "session"}, until ${until}`;
    print(outputFor(options), { url: caller.url, ...answer }, text);
  });

function readAddress(text: string): string {
  const url = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usageError(`Cannot sign in to ${text}: write an address such as https://hindcast.example or ${SERVICE_URL}`);
  }
  return url.href.replace(/\/+$/, "");
}

/** Signs in with a password that is asked for, and makes a token. */
async function makeToken(
  url: string,
  { email, scope }: { readonly email: string; readonly scope: string },
): Promise<string> {
  const anonymous = callerOf(url, undefined);
  const password = await askHidden(`Password of ${email}: `);
  const headers = { "content-type": "application/json", origin: new URL(url).origin };
  const answer = await anonymous.send("/api/auth/sign-in/email", {
    method: "POST",
    headers,
    body: JSON.stringify({ email, password }),
  });
  await answer.body?.cancel();
  const cookie = answer.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
  return await postToken(anonymous, { ...headers, cookie }, scope);
}

async function postToken(caller: Caller, headers: Readonly<Record<string, string>>, scope: string): Promise<string> {
  const body = JSON.stringify({ token: { name: nameToken(), scope } });
  const answer = await caller.send("/api/tokens", { method: "POST", headers, body });
  return madeSchema.parse(await answer.json()).secret;
}

function nameToken(): string {
  return `hindcast on ${Deno.hostname()}`.slice(0, 100);
}
