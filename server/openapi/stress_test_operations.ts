/** The words of stress tests. */
import { stressTestSchema } from "../../routers/stress_tests/stress_test_records.ts";
import { AWAITED, KEYED, listOf, LOCATION, type Operation, RECORD_EVENTS } from "./operation.ts";

const NO_STRESS_TEST = ["STRESS_TEST_NOT_FOUND"] as const;

/** By procedure. */
export const STRESS_TEST_OPERATIONS: Readonly<Record<string, Operation>> = {
  "stressTests.create": {
    summary: "Try what becomes of a completed backtest where something is worse",
    description:
      "It runs later, in the queue: follow it with `wait`, `/events` or by polling. The backtest runs again with one change at a time: its costs times 0, 2 and 4, orders a candle later, fills a tick worse, each parameter a step to both sides; and with rising costs until its profit is gone. Without running again, it is measured without its best trades, its best days and each of its years. A change with which it fails has an `error`. If all runs together take longer than `RUN_SECONDS_MAX`, the others fail as `STRATEGY_TIMED_OUT`. Of a user, 20 may be queued or running, and a backtest may have 20. Its bytes count to `USER_RESULT_BYTES_MAX`. Deleting the backtest removes its stress tests.",
    codes: ["BACKTEST_NOT_FOUND", "NOT_COMPLETED", "QUOTA_EXCEEDED", "IDEMPOTENCY_CONFLICT"],
    headers: LOCATION,
    requestHeaders: KEYED,
  },
  "stressTestsStreams.list": {
    summary: "The caller's stress tests",
    description: "Newest first, complete without `limit`; with `backtest_id`, only those of one backtest.",
    output: listOf("stress_tests", stressTestSchema),
  },
  "stressTests.get": {
    summary: "A stress test",
    codes: NO_STRESS_TEST,
    ...AWAITED,
  },
  "stressTests.delete": { summary: "Delete a stress test", codes: NO_STRESS_TEST },
  "stressTestsStreams.events": {
    summary: "Follow a stress test",
    codes: NO_STRESS_TEST,
    ...RECORD_EVENTS,
  },
  "stressTests.cancel": {
    summary: "Cancel a stress test",
    description: "Stops a queued one at once and a running one within two seconds.",
    codes: [...NO_STRESS_TEST, "NOT_CANCELLABLE"],
  },
};
