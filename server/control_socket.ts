/**
 * Serves `deno task admin` while an embedded service runs, since only the service may open its database: HTTP over a unix socket
 * that only the service's own user can open. `POST /admin/<e-mail>` answers 204, or 404 for an unknown e-mail.
 *
 * @param path The socket's path. A socket that a killed service left is replaced; the caller holds the data directory.
 * @param grantAdmin Gives the role; false for an unknown user.
 */
export async function serveControl(
  path: string,
  grantAdmin: (email: string) => Promise<boolean>,
): Promise<{ close(): Promise<void> }> {
  await Deno.remove(path).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  const server = Deno.serve({ transport: "unix", path, onListen: () => {} }, async (request) => {
    const match = new URLPattern({ pathname: "/admin/:email" }).exec(request.url);
    const email = match?.pathname.groups.email;
    if (request.method !== "POST" || email === undefined) return new Response(null, { status: 400 });
    return new Response(null, { status: await grantAdmin(decodeURIComponent(email)) ? 204 : 404 });
  });
  await Deno.chmod(path, 0o600);
  return { close: () => server.shutdown() };
}
