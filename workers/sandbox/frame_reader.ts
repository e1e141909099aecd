import { decodeFrame, FRAME_PREFIX_BYTES, readPrefix } from "./frames.ts";

// No result is longer.
const FRAME_BYTES_MAX = 1 << 29;

/** Reads the frames of a process's standard output. */
export class FrameReader<Message> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** The next message; null at the end. @throws {RangeError | SyntaxError} When a frame is damaged. */
  async next(): Promise<Message | null> {
    const prefix = await this.#read(FRAME_PREFIX_BYTES);
    if (prefix === null) return null;
    const { headBytes, bodyBytes } = readPrefix(prefix);
    if (headBytes + bodyBytes > FRAME_BYTES_MAX) throw new RangeError(`a frame of ${headBytes + bodyBytes} bytes`);
    const head = await this.#read(headBytes);
    const body = await this.#read(bodyBytes);
    return head === null || body === null ? null : decodeFrame<Message>(head, body.buffer);
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }

  async #read(count: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const bytes = new Uint8Array(count);
    for (let filled = 0; filled < count;) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#reader.read();
        if (done) return null;
        this.#rest = value;
      }
      const part = this.#rest.subarray(0, count - filled);
      bytes.set(part, filled);
      filled += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    return bytes;
  }
}
