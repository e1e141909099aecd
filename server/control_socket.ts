import { getLogger } from "@logtape/logtape";

const log = getLogger(["hindcast", "audit"]);

/**
 * Serves `deno task admin` while an embedded service runs, since only the service may open its database: HTTP over a unix socket
 * that only the service's own user can open. `POST /admin/<e-mail>` answers 204, or 404 for an unknown e-mail;
 * `POST /invitations/<e-mail or nothing>` answers the token of an invitation.
 *
 * @param path The socket's path. A socket that a killed service left is replaced; the caller holds the data directory.
 * @param acts.grantAdmin Gives the role and returns the user's id; undefined for an unknown user.
 * @param acts.invite Makes an invitation and returns its token.
 */
export async function serveControl(
  path: string,
  { grantAdmin, invite }: {
    readonly grantAdmin: (email: string) => Promise<string | undefined>;
    readonly invite: (email: string) => Promise<string>;
  },
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
    const match = new URLPattern({ pathname: "/:act(admin|invitations)/:email(.*)" }).exec(request.url)?.pathname
      .groups;
    const email = decode(match?.email ?? "");
    if (request.method !== "POST" || match === undefined || email === undefined) {
      return new Response(null, { status: 400 });
    }
    if (match.act === "invitations") {
      const token = await invite(email);
      log.info("{act}: {outcome}", { act: "task/invite", outcome: "done" });
      return new Response(token);
    }
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
