import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { viteConfig } from "./vite_config.ts";

const ENTRY = fileURLToPath(new URL("src/report/start_report.tsx", import.meta.url));

/**
 * Bundles the page of a run's report into one file, report.html, that loads nothing. REPORT_DATA stands where the service puts a run.
 *
 * @param outDir The path of the folder for it.
 */
export async function bundleReport(outDir: string): Promise<void> {
  const { script, style } = await bundle();
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  Deno.writeTextFileSync(`${outDir}/report.html`, page({ policy, style, script }));
}

function page({ policy, style, script }: Readonly<Record<"policy" | "style" | "script", string>>): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Backtest report</title>
    <style>${style}</style>
  </head>
  <body>
    <div id="root"></div>
    <noscript>This report draws itself: open it in a browser with JavaScript. It needs no network.</noscript>
    <script type="application/json" id="report">REPORT_DATA</script>
    <script type="module">${script}</script>
  </body>
</html>
`;
}

/** The report's code in one piece, and its styles. */
async function bundle(): Promise<{ readonly script: string; readonly style: string }> {
  const made = await build({
    ...viteConfig,
    logLevel: "warn",
    build: {
      ...viteConfig.build,
      write: false,
      cssCodeSplit: false,
      rolldownOptions: { ...viteConfig.build?.rolldownOptions, input: ENTRY, output: { codeSplitting: false } },
    },
  });
  const files = [made].flat().flatMap((each) => "output" in each ? each.output : []);
  const scripts = files.flatMap((file) => file.type === "chunk" ? [file.code] : []);
  const styles = files.flatMap((file) =>
    file.type === "asset" && file.fileName.endsWith(".css") ? [String(file.source)] : []
  );
  const [script, style] = [scripts[0]?.trim(), styles[0]?.trim()];
  if (script === undefined || style === undefined || files.length !== 2) {
    throw new Error(`Cannot put the report into one file: it has ${files.map(({ fileName }) => fileName).join(", ")}`);
  }
  return { script: requireInline(script.replaceAll("</script", "<\\/script")), style: requireInline(style) };
}

/** @throws Error where the text would end its element, begin a comment in it, or be read with other line ends than it is hashed. */
function requireInline(text: string): string {
  const [found] = /<\/(script|style)|<!--|\r|REPORT_DATA/i.exec(text) ?? [];
  if (found === undefined) return text;
  throw new Error(`Cannot put the report into one file: its code holds ${JSON.stringify(found)}`);
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
