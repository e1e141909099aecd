import { expect } from "@std/expect";
import { readPage } from "../support/pages.ts";
import { renderMetricsPage } from "./metrics_page.ts";

Deno.test("docs/metrics.md is what the engine's definitions give: deno task docs writes it", async () => {
  expect(await readPage("docs/metrics.md")).toBe(await renderMetricsPage());
});
