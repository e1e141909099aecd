/** A module as a file to download; its content hash is its tag, since a version never changes. */
export function encodeArtifact(artifact: { fileName: string; sha256: string; data: Uint8Array }): Response {
  return new Response(new Blob([new Uint8Array(artifact.data)]), {
    headers: {
      "content-type": "application/wasm",
      "content-disposition": `attachment; filename="${artifact.fileName}"`,
      "cache-control": "private, max-age=31536000, immutable",
      etag: `"${artifact.sha256}"`,
    },
  });
}
