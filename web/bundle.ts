/** Bundles the console into the folder that the first argument names. web/build.ts starts it with the frontend's own packages. */
import { build } from "vite";
import { bundleDocs } from "./bundle_docs.ts";
import { bundleReport } from "./bundle_report.ts";
import { viteConfig } from "./vite_config.ts";

const [outDir] = Deno.args;
if (outDir === undefined) throw new Error("Cannot bundle without a folder: name it as the argument");
await build({ ...viteConfig, logLevel: "warn", build: { ...viteConfig.build, outDir } });
await bundleReport(outDir);
await bundleDocs(outDir);
// Vite's plugins leave handles open.
Deno.exit();
