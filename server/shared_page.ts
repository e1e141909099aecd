import type { Context as HonoContext, Hono } from "hono";
import { LRUCache } from "lru-cache";
import { AppError } from "../routers/common/errors.ts";
import { type Link, openLink } from "../routers/common/link.ts";
import type { Services } from "../routers/common/trpc.ts";
import { type LinkPreview, readPreview } from "../routers/shares/preview.ts";
import type { ServerEnv } from "./requests/context.ts";

// Of some 5 KB each.
const PICTURES_MAX = 200;

/** The parts of the service that a link's page needs. */
interface SharedPageSources extends Pick<Services, "db" | "rowsWorker"> {
  /** The service's own address, which messengers need in full. */
  readonly origin: string;
}

/**
 * Serves the pictures of links, and writes what a link shows into the head of its page, where messengers look for it.
 *
 * @returns Changes the console's page for a request of a link's page; null for other requests, and where the link opens nothing.
 */
export function serveLinkPreviews(app: Hono<ServerEnv>, { db, rowsWorker, origin }: SharedPageSources) {
  const pictures = new LRUCache<string, Uint8Array<ArrayBuffer>>({ max: PICTURES_MAX });
  app.get("/shared/:token/picture.png", async (c) => {
    const link = await openLink(db, c.req.param("token"));
    const picture = pictures.get(link.id) ?? await draw(rowsWorker, await readPreview(db, link));
    if (picture === null) throw new AppError("SHARE_NOT_FOUND", "Cannot draw the link: it shows no curve");
    pictures.set(link.id, picture);
    return c.body(picture, 200, { "content-type": "image/png", "cache-control": "private, max-age=3600" });
  });
  return async (c: HonoContext<ServerEnv>): Promise<((page: string) => string) | null> => {
    const token = /^\/shared\/([\w-]{1,100})$/.exec(c.req.path)?.[1];
    if (token === undefined) return null;
    c.header("x-robots-tag", "noindex, nofollow");
    const preview = await findLink(db, token).then((link) => link && readPreview(db, link));
    if (preview === null) return null;
    return (page) => addHead(page, preview, `${origin}/shared/${token}`);
  };
}

/** Null where the page itself says that the link opens nothing. */
async function findLink(db: Services["db"], token: string): Promise<Link | null> {
  return await openLink(db, token).catch((error: unknown) => {
    if (error instanceof AppError && error.appCode === "SHARE_NOT_FOUND") return null;
    throw error;
  });
}

async function draw(
  rowsWorker: Services["rowsWorker"],
  preview: LinkPreview | null,
): Promise<Uint8Array<ArrayBuffer> | null> {
  return preview === null || preview.curves.length === 0 ? null : await rowsWorker.draw(preview.curves);
}

/** The page with a title and the properties of the Open Graph protocol. */
function addHead(page: string, { title, description, curves }: LinkPreview, url: string): string {
  const picture = `${url}/picture.png`;
  const properties = [
    ["og:site_name", "Hindcast"],
    ["og:type", "article"],
    ["og:title", title],
    ["og:description", description],
    ["og:url", url],
    ...(curves.length === 0 ? [] : [
      ["og:image", picture],
      ["og:image:type", "image/png"],
      ["og:image:width", "600"],
      ["og:image:height", "315"],
      ["og:image:alt", "The equity curve"],
    ]),
  ];
  const head = [
    `<title>${escape(`${title} · Hindcast`)}</title>`,
    '<meta name="robots" content="noindex, nofollow" />',
    `<meta name="twitter:card" content="${curves.length === 0 ? "summary" : "summary_large_image"}" />`,
    ...properties.map(([name = "", content = ""]) => `<meta property="${name}" content="${escape(content)}" />`),
  ].join("\n    ");
  // A function: a text as the replacement could name parts of the page, as in $&.
  return page.replace(/<title>[^<]*<\/title>/, () => head);
}

/** Text that is safe between tags and inside quotes. */
function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
