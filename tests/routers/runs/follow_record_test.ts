import { expect } from "@std/expect";
import { followRecord } from "../../../routers/runs/follow_record.ts";

Deno.test("a follower learns of the end at once, and of other changes at its pace", async () => {
  let row = { status: "running", done: 0 };
  let [change, end] = [() => {}, () => {}];
  const followed = followRecord({
    watch: (onChange, onEnd) => {
      [change, end] = [onChange, onEnd];
      return Promise.resolve(() => {});
    },
    read: () => Promise.resolve(row),
    hasEnded: ({ status }) => status === "completed",
    // Beyond the test's own end.
    paceMs: 600_000,
  }, AbortSignal.timeout(60_000));
  expect((await followed.next()).value).toEqual({ status: "running", done: 0 });
  row = { status: "running", done: 1 };
  change();
  const next = followed.next();
  row = { status: "completed", done: 2 };
  end();
  expect((await next).value).toEqual({ status: "completed", done: 2 });
  expect((await followed.next()).done).toBe(true);
});
