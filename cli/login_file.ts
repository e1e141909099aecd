import { dirname, join } from "node:path";
import { z } from "zod";

// The Python package reads the same file.
const loginSchema = z.object({ url: z.url(), token: z.string().min(1) });

/** Where a user signed in, and as whom. */
type Login = z.infer<typeof loginSchema>;

/** The path of the file that holds the login: `hindcast/login.json` in the user's folder of settings. */
export function loginPath(): string {
  const home = Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE") ?? ".";
  return join(Deno.env.get("XDG_CONFIG_HOME") || join(home, ".config"), "hindcast", "login.json");
}

/** The saved login; null where there is none. @throws Error where the file holds something else. */
export function readLogin(): Login | null {
  let text;
  try {
    text = Deno.readTextFileSync(loginPath());
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  try {
    return loginSchema.parse(JSON.parse(text));
  } catch {
    throw new Error(`Cannot read ${loginPath()}: it holds no address and token; call hindcast login again`);
  }
}

/** Saves a login so that only this user can read it. */
export function writeLogin(login: Login): void {
  const path = loginPath();
  Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Beside the old file, which stays whole until the new one is: a token is shown only once.
  const temporary = `${path}.${crypto.randomUUID()}`;
  Deno.writeTextFileSync(temporary, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600, createNew: true });
  Deno.renameSync(temporary, path);
}

/** Forgets the login. @returns False where there was none. */
export function removeLogin(): boolean {
  try {
    Deno.removeSync(loginPath());
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
