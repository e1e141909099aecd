import { matchesTag } from "./negotiation.ts";

/**
 * A module as a file to download, tagged by its content's hash; 304 for who has it already. Caches ask each time: a version never changes,
 * but its strategy may be deleted and another take its slug.
 */
export function encodeArtifact(
  artifact: { fileName: string; sha256: string; data: Uint8Array },
  request: Request,
): Response {
  const tag = `"${artifact.sha256}"`;
  const headers = new Headers({ etag: tag, "cache-control": "private, no-cache" });
  if (matchesTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
  headers.set("content-type", "application/wasm");
  headers.set("content-disposition", `attachment; filename="${artifact.fileName}"`);
  return new Response(new Blob([new Uint8Array(artifact.data)]), { headers });
}
