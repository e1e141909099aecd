/** Serves agents by the Model Context Protocol over streamable HTTP, stateless, so that any process answers. */
import type { Context as HonoContext, Hono } from "hono";
import { AppError } from "../../routers/common/errors.ts";
import { requireAccess } from "../../routers/common/trpc.ts";
import type { AgentSignIn } from "../../routers/common/agent_sign_in.ts";
import type { ServerEnv } from "../requests/context.ts";
import { readJson } from "../middleware/body.ts";
import { challengeOf } from "./sign_in_routes.ts";

/**
 * Serves /mcp, /llms.txt and the pages that it names. A tool's caller is a user or a token, as everywhere; each tool asks for the scope of its procedures.
 *
 * @param addContext Finds the caller.
 */
export function serveAgents(
  app: Hono<ServerEnv>,
  addContext: (c: HonoContext<ServerEnv>) => Promise<void>,
  { agentSignIn: signIn, stallMs }: { readonly agentSignIn: AgentSignIn; readonly stallMs: number },
): void {
  app.all("/mcp", async (c) => {
    c.header("www-authenticate", challengeOf(signIn, c.req.url, c.req.header("authorization") !== undefined));
    await addContext(c);
    requireAccess("user", c.get("context"), "query");
    c.header("www-authenticate", undefined);
    const parsedBody = c.req.method === "POST" ? await readMessage(c, stallMs) : undefined;
    const { answerMessage } = await import("./answer_message.ts");
    return await answerMessage(c.get("context"), withoutBody(c.req.raw), parsedBody);
  });
  app.get("/llms.txt", async (c) => {
    const { listPages } = await import("./pages.ts");
    return c.text(listPages());
  });
  app.get("/pages/:name", async (c) => {
    const { PAGES } = await import("./pages.ts");
    const page = PAGES[c.req.param("name")];
    if (page === undefined) return c.notFound();
    return c.body(page.text, 200, { "content-type": "text/markdown; charset=utf-8" });
  });
}

/** Reads one message. A request counts as one call, and the protocol has no batches any more. */
async function readMessage(c: HonoContext<ServerEnv>, stallMs: number): Promise<unknown> {
  const message = await readJson(c, { isOptional: false, stallMs });
  if (!Array.isArray(message)) return message;
  const issues = [{ path: "", message: "must be one message, not a list of them" }];
  throw new AppError(
    "VALIDATION_FAILED",
    "Cannot accept the request: the body must be one message, not a list of them",
    {
      issues,
    },
  );
}

/** The body has been read. */
function withoutBody({ url, method, headers, signal }: Request): Request {
  return new Request(url, { method, headers, signal });
}
