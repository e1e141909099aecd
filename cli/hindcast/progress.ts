import { drawProgress } from "../drawing.ts";
import type { Output } from "./command.ts";

const encoder = new TextEncoder();

/** A line of progress, which only a terminal shows. */
interface ProgressLine {
  update(record: { readonly status: string; readonly progress: number }): void;
  /** Removes the line. */
  end(): void;
}

/** On standard error, so that what a pipe gets is the result alone. */
export function showProgress({ paint }: Output): ProgressLine {
  if (!Deno.stderr.isTerminal()) return { update() {}, end() {} };
  const write = (text: string) => Deno.stderr.writeSync(encoder.encode(text));
  return {
    update: ({ status, progress }) => write(`\r${drawProgress(progress, paint)} ${status}\x1b[K`),
    end: () => write("\r\x1b[K"),
  };
}

/**
 * A signal that Ctrl+C aborts, for the time of a wait: the run itself goes on.
 *
 * @param wait Rejects with the signal's reason once it is aborted.
 */
export async function untilInterrupted<Result>(wait: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  Deno.addSignalListener("SIGINT", interrupt);
  try {
    return await wait(controller.signal);
  } finally {
    // A terminal sends the signal to the launcher as well, which passes it on: the second one must not end the command's last words.
    if (!controller.signal.aborted) Deno.removeSignalListener("SIGINT", interrupt);
  }
}
