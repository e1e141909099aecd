/** The memory that event streams hold, measured from outside a service with the permissions of its task. */
import { expect } from "@std/expect";
import { openPostgres } from "../../db/client.ts";
import { type OptimizationWindow, updateOptimization } from "../../db/optimizations.ts";
import { EVENT_LIMITS } from "../../server/middleware/stream_limits.ts";
import { measureSettled } from "../fuzz/growth.ts";
import { createTestDatabase } from "../support/database.ts";
import { addOptimization } from "../support/optimizations.ts";
import { startProcess } from "../support/process.ts";
import { askSilently, type SilentClient } from "../support/silent_client.ts";

const STREAMS = EVENT_LIMITS.addressMax;
// A collector returns memory late: it grows by 250 to 400 MB, and by 650 where streams keep what nobody reads.
const GROWTH_MB_MAX = 500;
const LONG = "\u6f22".repeat(199);
// The longest parameters that a space may have: with many windows, they make an event of some megabytes.
const AXES = Array.from({ length: 16 }, (_, i) => ({ name: `${LONG}${i.toString(16)}`, count: 1, values: [LONG] }));
const WINDOW: OptimizationWindow = {
  trainStart: "2024-01-01",
  trainEnd: "2024-01-02",
  testEnd: "2024-01-03",
  best: { number: 1, point: 0, objective: 1 },
  train: null,
  test: null,
  error: null,
  dataSha256: null,
};

Deno.test("event streams that nobody reads hold little, over REST and tRPC", async () => {
  const database = await createTestDatabase("service");
  const { db, close } = await openPostgres(database.url, 1);
  const service = await startProcess("serve", {
    WORKERS: "0",
    DATABASE_URL: database.url,
    BETTER_AUTH_SECRET: "a secret of at least 32 characters",
  });
  const user = service.client();
  await user.signUp();
  const walkForward = { trainDays: 1, testDays: 1, stepDays: 1, anchored: false };
  const id = await addOptimization(db, String((await user.get("/api/session")).at("/user/id")), {
    space: { axes: AXES },
    walkForward,
  });
  await updateOptimization(db, id, { status: "running", windows: new Array<OptimizationWindow>(200).fill(WINDOW) });
  const paths = [
    `/api/optimizations/${id}/events`,
    `/trpc/optimizations.onEvent?input=${encodeURIComponent(JSON.stringify({ id }))}`,
  ];
  const before = await measureSettled(service.pid);
  for (const path of paths) {
    const streams: SilentClient[] = [];
    for (let i = 0; i < STREAMS; i++) streams.push(await askSilently(service.url, path, user.cookie));
    // Their events are made once they have begun to arrive; some are given up meanwhile.
    await Promise.all(streams.map((each) => each.readStatus().catch(() => "")));
    const after = await measureSettled(service.pid);
    for (const each of streams) each.close();
    expect(after.megabytes - before.megabytes).toBeLessThan(GROWTH_MB_MAX);
  }
  await service.end("SIGTERM");
  await close();
  await database.drop();
});
