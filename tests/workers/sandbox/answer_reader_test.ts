import { expect } from "@std/expect";
import { ERRORS_CHARS_MAX } from "../../../workers/sandbox/answer_bounds.ts";
import { AnswerReader } from "../../../workers/sandbox/answer_reader.ts";
import { encodeFrame } from "../../../workers/sandbox/frames.ts";
import type { SandboxJob } from "../../../workers/sandbox/task.ts";
import { dailyCandles, taskOver, wanderingCloses } from "./sandbox_tasks.ts";

Deno.test("a fault that a process reports is cut before anything logs it", async () => {
  const job: SandboxJob = {
    ...{ kind: "run", module: new Uint8Array(), parametersJson: "{}", candlesMin: 1, lookbackWanted: null },
    task: taskOver(dailyCandles(wanderingCloses(20))),
  };
  const frame = encodeFrame({ type: "broken", message: "x".repeat(1e6) });
  const answers = new AnswerReader(ReadableStream.from<Uint8Array>(frame), job);
  expect(await answers.next()).toEqual({ type: "broken", message: "x".repeat(ERRORS_CHARS_MAX) });
  expect(await answers.next()).toBe(null);
});
