import { matchesTag } from "./negotiation.ts";

/**
 * A module or a script as a file to download, with its hash as ETag; 304 where the client has it already. Caches must revalidate: a version never
 * changes, but its strategy may be deleted and its slug registered again.
 */
export function encodeArtifact(
  artifact: { fileName: string; sha256: string; data: Uint8Array },
  request: Request,
): Response {
  const tag = `"${artifact.sha256}"`;
  const headers = new Headers({ etag: tag, "cache-control": "private, no-cache" });
  if (matchesTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
  const isModule = artifact.fileName.endsWith(".wasm");
  headers.set("content-type", isModule ? "application/wasm" : "text/plain; charset=utf-8");
  headers.set("content-length", String(artifact.data.byteLength));
  headers.set("content-disposition", `attachment; filename="${artifact.fileName}"`);
  return new Response(new Uint8Array(artifact.data), { headers });
}
