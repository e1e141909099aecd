import { expect } from "@std/expect";
import { warmUp } from "../../../../workers/sandbox/script/warm_up.ts";

Deno.test("a process that waits runs a strategy of ours four times, and none once it has a job", async () => {
  expect(await warmUp(() => true)).toBe(4);
  let asked = 0;
  expect(await warmUp(() => asked++ < 2)).toBe(2);
  expect(await warmUp(() => false)).toBe(0);
});
