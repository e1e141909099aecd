import { type BrowserServer, chromium } from "playwright-core";

/**
 * Starts a browser for tests to connect to: Chromium from npm on Linux x64, which needs nothing installed, elsewhere an installed Chrome.
 */
export async function launchBrowser(): Promise<BrowserServer> {
  if (Deno.build.target !== "x86_64-unknown-linux-gnu") return await chromium.launchServer({ channel: "chrome" });
  const { default: Chromium, inflate } = await import("@sparticuz/chromium");
  const bin = new URL("../bin/al2023.tar.br", import.meta.resolve("@sparticuz/chromium"));
  // The browser's libraries: bare machines lack them.
  const [executablePath, libraries] = await Promise.all([Chromium.executablePath(), inflate(decodeURI(bin.pathname))]);
  return await chromium.launchServer({
    executablePath,
    // Not Chromium.args: they turn off the rules on origins, which the tests rely on.
    args: ["--no-sandbox", "--no-zygote", "--font-render-hinting=none"],
    env: { ...Deno.env.toObject(), LD_LIBRARY_PATH: `${libraries}/lib` },
  });
}
