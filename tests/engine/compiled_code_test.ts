import { expect } from "@std/expect";

Deno.test("the simulator's compiled code outlives a full collection between two runs", async () => {
  const program = new URL("compiled_code.ts", import.meta.url).pathname;
  // On one thread V8 compiles at once, and not when a busy machine finds time for it.
  const flags = "--v8-flags=--expose-gc,--allow-natives-syntax,--single-threaded";
  const args = ["run", "--no-check", flags, program];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  expect([code, new TextDecoder().decode(stderr)]).toEqual([0, ""]);
  const { fresh, compiled, left } = JSON.parse(new TextDecoder().decode(stdout));
  expect(compiled).not.toEqual(fresh);
  expect(left).toEqual(compiled);
});
