/**
 * Answers `deno task admin` beside a running embedded service, which alone may touch its database: HTTP over a unix
 * socket that only the service's own user can open. `POST /admin/<e-mail>` answers 204, or 404 for an unknown e-mail.
 *
 * @param path Of the socket; one left by a killed service is replaced, since the caller holds the data directory.
 * @param grantAdmin Whether there is such a user, who then has the role.
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
