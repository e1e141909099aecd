type Preparation =
  | "server"
  | "database/migrated"
  | "database/service"
  | "sessions"
  | "folder/migrated"
  | "folder/service"
  | "packages"
  | "console"
  | "interpreter"
  | "browser";

const asked = new Map<Preparation, Promise<string>>();

/** The preparations that `deno task test` makes when the first test asks: a server's URL, a template database's name or a folder. */
export function prepare(name: Preparation): Promise<string> {
  const answer = asked.get(name) ?? askFor(name);
  asked.set(name, answer);
  return answer;
}

/** True if `deno task test` started this process. */
export function isPrepared(): boolean {
  return Deno.env.has("TEST_PREPARATIONS_URL");
}

/** Installs the packages of the service and its commands; otherwise their first start on a machine reports each download. */
export async function installPackages(): Promise<void> {
  if (isPrepared()) await prepare("packages");
}

async function askFor(name: Preparation): Promise<string> {
  const preparations = Deno.env.get("TEST_PREPARATIONS_URL");
  if (preparations === undefined) {
    throw new Error("This test needs what `deno task test` prepares: run it with `deno task test FILE`");
  }
  const response = await fetch(`${preparations}/${name}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`Cannot prepare ${name} for the tests: ${text}`);
  return text;
}
