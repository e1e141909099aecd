import { getLogger } from "@logtape/logtape";
import { z } from "zod";

const limit = z.int().min(1).nullish();
const changesSchema = z.string().transform((text): unknown => JSON.parse(text)).pipe(z.strictObject({
  backtestsMax: limit,
  optimizationsMax: limit,
  resultBytesMax: limit,
  versionsMax: limit,
  registryBytesMax: limit,
}));

const log = getLogger(["hindcast", "audit"]);

/**
 * Serves `deno task admin` while an embedded service runs, since only the service may open its database: HTTP over a unix socket
 * that only the service's own user can open. `POST /admin/<e-mail>` answers 204, or 404 for an unknown e-mail;
 * `POST /invitations/<e-mail or nothing>` answers the token of an invitation; `POST /quotas/<e-mail>?changes=` answers the limits that
 * are the user's own then, or 404; `POST /bytes/?after=` moves some bytes to where new ones live and answers what it has moved, or 404
 * without a bucket.
 *
 * @param path The socket's path. A socket that a killed service left is replaced; the caller holds the data directory.
 * @param acts.grantAdmin Gives the role and returns the user's id; undefined for an unknown user.
 * @param acts.changeQuotas Changes a user's limits and returns their own; undefined for an unknown user.
 * @param acts.invite Makes an invitation and returns its token.
 * @param acts.moveBytes Does a step behind the place where the one before ended; null without a bucket.
 */
export async function serveControl(
  path: string,
  { grantAdmin, invite, changeQuotas, moveBytes }: {
    readonly grantAdmin: (email: string) => Promise<string | undefined>;
    readonly changeQuotas: (
      email: string,
      changes: z.infer<typeof changesSchema>,
    ) => Promise<object | null | undefined>;
    readonly invite: (email: string) => Promise<string>;
    readonly moveBytes: (after: unknown) => Promise<object | null>;
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
    const match = new URLPattern({ pathname: "/:act(admin|invitations|quotas|bytes)/:email(.*)" }).exec(request.url)
      ?.pathname
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
    if (match.act === "quotas") {
      const changes = changesSchema.parse(new URL(request.url).searchParams.get("changes"));
      const own = await changeQuotas(email, changes);
      if (own === undefined) return new Response(null, { status: 404 });
      log.info("{act}: {outcome}", { act: "task/quotas", outcome: "done" });
      return Response.json(own);
    }
    if (match.act === "bytes") {
      const moved = await moveBytes(JSON.parse(new URL(request.url).searchParams.get("after") ?? "null"));
      return moved === null ? new Response(null, { status: 404 }) : Response.json(moved);
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
