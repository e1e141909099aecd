import { expect } from "@std/expect";

Deno.test("forty short script runs in one worker leave no memory, file or process behind", async () => {
  const program = new URL("./short_runs.ts", import.meta.url).pathname;
  const args = ["run", "--no-check", "--allow-all", "--v8-flags=--expose-gc", program, "40"];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  const said = new TextDecoder().decode(stdout);
  expect([code, new TextDecoder().decode(stderr)]).toEqual([0, ""]);
  expect(said).toMatch(/after 40 runs: .* files, 0 child processes\nflat: /);
});
