import { getLogger } from "@logtape/logtape";

const log = getLogger(["hindcast", "audit"]);

/**
 * Serves `deno task admin` while an embedded service runs, since only the service may open its database: HTTP over a unix socket
 * that only the service's own user can open. `POST /admin/<e-mail>` answers 204, or 404 for an unknown e-mail.
 *
 * @param path The socket's path. A socket that a killed service left is replaced; the caller holds the data directory.
 * @param grantAdmin Gives the role and returns the user's id; undefined for an unknown user.
 */
export async function serveControl(
  path: string,
  grantAdmin: (email: string) => Promise<string | undefined>,
): Promise<{ close(): Promise<void> }> {
  await Deno.remove(path).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  const onError = (error: unknown) => {
    log.error("Cannot answer on the control socket: {error}", { error });
    // The runtime would answer with the stack.
    return new Response(null, { status: 500 });
  };
  const server = Deno.serve({ transport: "unix", path, onListen: () => {}, onError }, async (request) => {
    const match = new URLPattern({ pathname: "/admin/:email" }).exec(request.url);
    const email = decode(match?.pathname.groups.email);
    if (request.method !== "POST" || email === undefined) return new Response(null, { status: 400 });
    const userId = await grantAdmin(email);
    if (userId === undefined) return new Response(null, { status: 404 });
    log.info("{act}: {outcome}", { act: "task/admin", outcome: "done", target_id: userId, role: "admin" });
    return new Response(null, { status: 204 });
  });
  await Deno.chmod(path, 0o600);
  return { close: () => server.shutdown() };
}

function decode(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
