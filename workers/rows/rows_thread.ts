/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The entry of a Web Worker without permissions that decodes and writes the rows of lists, a task at a time. */
import { buffersOf } from "../../engine/buffer_pool.ts";
import { type RowsTask, RowsWork } from "./rows_task.ts";

const work = new RowsWork();

self.onmessage = ({ data: task }: MessageEvent<RowsTask>) => {
  const answer = work.do(task);
  self.postMessage(answer, [...buffersOf(answer)]);
};
