import { expect } from "@std/expect";
import { FaultLog } from "../../../workers/jobs/fault_log.ts";

Deno.test("a fault that goes on is a line a minute, with the number of those that were left out", () => {
  const lines: unknown[] = [];
  let nowMs = 0;
  const faults = new FaultLog((message, properties) => lines.push([message, properties]), () => nowMs);
  const [full, away] = [new Error("read-only"), new Error("ECONNREFUSED")];
  const report = (error: Error, queue: string) => faults.report("Cannot take jobs from {queue}", { error, queue });
  // Three queues ask every two seconds, from second 0 to second 60.
  for (; nowMs <= 60_000; nowMs += 2000) for (const queue of ["a", "b", "c"]) report(full, queue);
  report(away, "a");
  expect(lines).toEqual([
    ["Cannot take jobs from {queue}", { error: full, queue: "a" }],
    // 2 at second 0, and 3 at each of the 29 moments up to second 58.
    ["Cannot take jobs from {queue}", { error: full, queue: "a", repeated: 89 }],
    ["Cannot take jobs from {queue}", { error: away, queue: "a" }],
  ]);
});
