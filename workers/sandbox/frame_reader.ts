import { decodeFrame, FRAME_PREFIX_BYTES, type FrameBounds, readPrefix } from "./frames.ts";

/** Lets a frame of these lengths in, or throws. @returns The bounds of what it may build; nothing: it has none. */
type Admit = (headBytes: number, bodyBytes: number) => FrameBounds | undefined;

/** The bytes that came are no frame. */
export class FrameFault extends Error {
  override readonly name = "FrameFault";
}

/** Reads the frames of a process's standard output. */
export class FrameReader<Message> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #admit: Admit;
  #rest: Uint8Array = new Uint8Array(0);

  /** @param admit Called with the lengths of each frame before there is memory for it; default: all are let in. */
  constructor(stream: ReadableStream<Uint8Array>, admit: Admit = () => undefined) {
    this.#reader = stream.getReader();
    this.#admit = admit;
  }

  /** The next message; null at the end. @throws {FrameFault} When a frame is damaged. @throws What `admit` throws. */
  async next(): Promise<Message | null> {
    const prefix = await this.#read(FRAME_PREFIX_BYTES);
    if (prefix === null) return null;
    const { headBytes, bodyBytes } = readPrefix(prefix);
    const bounds = this.#admit(headBytes, bodyBytes);
    const head = await this.#read(headBytes);
    const body = await this.#read(bodyBytes);
    if (head === null || body === null) return null;
    try {
      return decodeFrame<Message>(head, body.buffer, bounds);
    } catch (error) {
      throw new FrameFault(error instanceof Error ? error.message : String(error), { cause: error });
    }
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
