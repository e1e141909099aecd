import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { build, type Rolldown } from "vite";
import { viteConfig } from "./vite_config.ts";

const PAGE = fileURLToPath(new URL("docs.html", import.meta.url));
const DATA_IMAGE = /url\((?:"(data:(?:[^"\\]|\\.)*)"|(data:[^)]*))\)/g;

/**
 * Bundles the reference of the API, docs.html. It shares no file with the console, whose first page must not grow by it.
 *
 * @param outDir The path of the folder with the console's build.
 */
export async function bundleDocs(outDir: string): Promise<void> {
  await build({
    ...viteConfig,
    plugins: [{ name: "images-as-files", generateBundle: moveImages }],
    publicDir: false,
    logLevel: "warn",
    build: {
      ...viteConfig.build,
      outDir,
      emptyOutDir: false,
      chunkSizeWarningLimit: 2_000,
      rolldownOptions: { ...viteConfig.build?.rolldownOptions, input: PAGE },
    },
  });
}

/** Moves the images in Swagger UI's style into files of their own: the Content-Security-Policy allows no data: addresses. */
function moveImages(this: Rolldown.PluginContext, _: unknown, bundle: Rolldown.OutputBundle): void {
  for (const file of Object.values(bundle)) {
    if (file.type !== "asset" || !file.fileName.endsWith(".css")) continue;
    file.source = String(file.source).replace(DATA_IMAGE, (_match, quoted?: string, bare?: string) => {
      const { type, source } = readDataUrl(quoted?.replaceAll(/\\(.)/g, "$1") ?? bare ?? "");
      const name = createHash("sha256").update(source).digest("hex").slice(0, 8);
      const fileName = `assets/docs-${name}.${type}`;
      this.emitFile({ type: "asset", fileName, source });
      return `url("/${fileName}")`;
    });
  }
}

/** @throws Error where the address has another form than those of Swagger UI. */
function readDataUrl(address: string): { readonly type: string; readonly source: Uint8Array } {
  const [, type, encoding, text] = /^data:image\/(svg|png|jpeg)[^,;]*;([^,]+),(.*)$/s.exec(address) ?? [];
  if (type === undefined || text === undefined) {
    throw new Error(`Cannot bundle the reference: its style has the address ${address.slice(0, 60)}`);
  }
  return { type, source: encoding === "base64" ? Buffer.from(text, "base64") : Buffer.from(decodeURIComponent(text)) };
}
