import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import type { InlineConfig } from "vite";

/** Vite's settings for the build and the development server. */
export const viteConfig: InlineConfig = {
  root: fileURLToPath(new URL(".", import.meta.url)),
  configFile: false,
  plugins: [react(), tailwindcss()],
  build: {
    target: "es2023",
    // The Content-Security-Policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    // A busy machine makes every build slow; a start of the service would print the warning.
    rolldownOptions: { checks: { bundlerTimings: false } },
    emptyOutDir: true,
  },
};
