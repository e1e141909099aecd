import type { Context as HonoContext, Hono } from "hono";
import { serveStatic } from "hono/serve-static";
import type { ServerEnv } from "./requests/context.ts";

// No inline script or style, and nothing from elsewhere: text that a user typed cannot become code.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

// The build's names are plain. No other path reaches the file system, which fails at long names and at zero bytes.
const ASSETS = "/assets/:file{[\\w.-]{1,100}}";

const BUILDING = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Hindcast</title>
<h1>The console is being built</h1>
<p>It opens here by itself. The first build takes up to a minute, and the API answers already.</p>
<p>If nothing happens, look at the messages of the service, or run <code>deno task web:build</code>.</p>
</html>
`;

/**
 * Serves the console: its files, the reference of the API at /docs, and its page for every other address that a browser opens.
 *
 * Files below /assets/ carry a hash in their name and may be cached for ever; all others are asked for again each time.
 *
 * @param folder The path of the build. It may appear later; until then a page says that it is being built.
 * @param findHead Gives a change of the console's page for some requests, null for others.
 */
export function serveConsole(
  app: Hono<ServerEnv>,
  folder: string,
  findHead: (c: HonoContext<ServerEnv>) => Promise<((page: string) => string) | null> = () => Promise.resolve(null),
): void {
  const files = { root: folder, getContent: readFile, precompressed: true };
  const keep = (c: HonoContext, value: string) => void c.header("cache-control", value);
  app.get(ASSETS, serveStatic({ ...files, onFound: (_, c) => keep(c, "public, max-age=31536000, immutable") }));
  app.get("/favicon.svg", serveStatic({ ...files, onFound: (_, c) => keep(c, "public, max-age=86400") }));
  const servePage = (name: string) => {
    const serve = serveStatic({ ...files, path: `${folder}/${name}`, root: "", onFound: (_, c) => servesPage(c) });
    return async (c: HonoContext) => {
      let isBuilding = false;
      const page = await serve(c, () => {
        isBuilding = true;
        return Promise.resolve();
      });
      if (!isBuilding) return page;
      servesPage(c);
      c.header("refresh", "2");
      return c.html(BUILDING, 503);
    };
  };
  app.get("/docs", servePage("docs.html"));
  const serveConsolePage = servePage("index.html");
  app.get("*", async (c, next) => {
    // Programs that ask for an unknown path get the error that says so.
    if (!/\btext\/html\b/.test(c.req.header("accept") ?? "") || isOfPrograms(c.req.path)) return await next();
    const addHead = await findHead(c);
    const page = addHead === null ? null : await readFile(`${folder}/index.html`);
    if (addHead === null || page === null) return await serveConsolePage(c);
    servesPage(c);
    return c.html(addHead(new TextDecoder().decode(page)));
  });
}

function servesPage(c: HonoContext): void {
  c.header("cache-control", "no-cache");
  c.header("content-security-policy", CONTENT_SECURITY_POLICY);
}

function isOfPrograms(path: string): boolean {
  return /^\/(api|trpc|assets)(\/|$)/.test(path);
}

async function readFile(path: string): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.IsADirectory) return null;
    throw error;
  }
}
