/** Writes what docs/ has from the code: `deno task docs`. */
import { renderArchitecturePage } from "./import_rows.ts";
import { renderExecutionPage } from "./execution_page.ts";
import { renderMetricsPage } from "./metrics_page.ts";

const PAGES = {
  "architecture.md": renderArchitecturePage,
  "execution.md": renderExecutionPage,
  "metrics.md": renderMetricsPage,
};

for (const [name, render] of Object.entries(PAGES)) {
  await Deno.writeTextFile(new URL(`../../docs/${name}`, import.meta.url), await render());
}
