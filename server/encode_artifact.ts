import { matchesTag } from "./negotiation.ts";

/** A module as a file to download; its content hash is its tag, since a version never changes. 304 for who has it already. */
export function encodeArtifact(
  artifact: { fileName: string; sha256: string; data: Uint8Array },
  request: Request,
): Response {
  const tag = `"${artifact.sha256}"`;
  const headers = new Headers({ etag: tag, "cache-control": "private, max-age=31536000, immutable" });
  if (matchesTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
  headers.set("content-type", "application/wasm");
  headers.set("content-disposition", `attachment; filename="${artifact.fileName}"`);
  return new Response(new Blob([new Uint8Array(artifact.data)]), { headers });
}
