import { AnswerMeter, boundsOf, ERRORS_CHARS_MAX } from "./answer_bounds.ts";
import { requireShape, shapeOfAnswers } from "./answer_check.ts";
import { FrameReader } from "./frame_reader.ts";
import type { FromChild, SandboxJob } from "./task.ts";

/** Reads the messages of a sandbox's process, each within the bounds of its job and in a shape of ours. */
export class AnswerReader<Value extends object> {
  readonly #frames: FrameReader<FromChild<Value>>;
  readonly #meter: AnswerMeter;
  #shape: ReturnType<typeof shapeOfAnswers>;

  constructor(output: ReadableStream<Uint8Array>, job: SandboxJob) {
    this.#meter = new AnswerMeter(boundsOf(job));
    this.#shape = shapeOfAnswers(job, this.#meter.bounds);
    this.#frames = new FrameReader(output, (headBytes, bodyBytes) => this.#meter.admit(headBytes, bodyBytes));
  }

  /** The next message; null at the end. @throws {AnswerFault | FrameFault} */
  async next(): Promise<FromChild<Value> | null> {
    const message = await this.#frames.next();
    if (message === null) return null;
    requireShape(this.#shape, message);
    if (message.type === "trial" || message.type === "path") this.#meter.countResult();
    if (message.type === "broken") return { ...message, message: message.message.slice(0, ERRORS_CHARS_MAX) };
    return message;
  }

  /** The process goes on with another job, which has more candles. */
  widen(job: SandboxJob): void {
    this.#meter.widen(boundsOf(job));
    this.#shape = shapeOfAnswers(job, this.#meter.bounds);
  }

  async cancel(): Promise<void> {
    await this.#frames.cancel();
  }
}
