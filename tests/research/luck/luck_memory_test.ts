import { expect } from "@std/expect";
import { readPage } from "../../support/pages.ts";

/** The bound that docs/security.md states. */
const BYTES_MAX = 128 * 2 ** 20;

Deno.test("the luck of 1,000 trials over ten years of days is measured in the memory that docs/security.md names", async () => {
  // A process of its own: memory that other tests have freed would hide some.
  const program = new URL("./luck_memory.ts", import.meta.url);
  const args = ["run", "--no-check", "--config", "deno.json", program.href];
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), { args }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const { trials, bytes } = JSON.parse(new TextDecoder().decode(stdout));
  // Over this number of days, fewer are compared, or it would take longer.
  expect(trials).toBe(823);
  expect(bytes).toBeGreaterThan(trials * 3_652 * 8);
  expect(bytes).toBeLessThan(BYTES_MAX);
  const page = (await readPage("docs/security.md")).replaceAll(/\s+/g, " ");
  expect(page).toContain(`${BYTES_MAX / 2 ** 20} MiB for ten years of days`);
});
