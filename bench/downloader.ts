import { timeWork } from "./measure.ts";

/** The time until an answer has arrived, and the computing time of this process until then. */
export type Timing = Awaited<ReturnType<typeof timeWork>>;

/** A process that downloads answers, so that this process does not compute for it. */
export class Downloader {
  readonly #child: Deno.ChildProcess;
  readonly #asks: WritableStreamDefaultWriter<Uint8Array>;
  readonly #answers: ReadableStreamDefaultReader<Uint8Array>;

  constructor(origin: string) {
    const script = `for await (const path of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
      const begun = performance.now();
      for await (const _ of (await fetch("${origin}" + path, { headers: { "accept-encoding": "identity" } })).body);
      await Deno.stdout.write(new TextEncoder().encode(String(performance.now() - begun)));
    }`;
    this.#child = new Deno.Command(Deno.execPath(), { args: ["eval", script], stdin: "piped", stdout: "piped" })
      .spawn();
    this.#asks = this.#child.stdin.getWriter();
    this.#answers = this.#child.stdout.getReader();
  }

  /** Downloads an answer. */
  async time(path: string): Promise<Timing> {
    let ms = NaN;
    const { cpuSeconds } = await timeWork(async () => {
      await this.#asks.write(new TextEncoder().encode(path));
      ms = Number(new TextDecoder().decode((await this.#answers.read()).value));
    });
    return { seconds: ms / 1000, cpuSeconds };
  }

  async close(): Promise<void> {
    await this.#asks.close();
    await this.#answers.cancel();
    await this.#child.status;
  }
}
