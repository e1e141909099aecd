import { listDescendants } from "./processes.ts";

// A process that has ended may still have output on its way.
const REST_MS = 10_000;

/**
 * Hands on what a test runner says and, when it has said nothing for so long, interrupts it, upon which it names the tests that are
 * not over: one waits for what never comes. The processes that they have started are ended, too.
 *
 * @param tests With its standard output piped.
 * @returns Its exit code, never 0 when it was interrupted.
 */
export async function endWhenSilent(
  tests: Deno.ChildProcess,
  silenceMsMax: number,
  write: (part: Uint8Array) => void,
): Promise<number> {
  let started: readonly { readonly pid: number }[] = [];
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
    started = listDescendants(tests.pid);
    tests.kill("SIGINT");
  };
  let timer = setTimeout(interrupt, silenceMsMax);
  const reader = tests.stdout.getReader();
  const reading = (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      clearTimeout(timer);
      timer = setTimeout(interrupt, silenceMsMax);
      write(part.value);
    }
  })();
  const { code } = await tests.status;
  for (const { pid } of started) kill(pid);
  const rest = setTimeout(() => void reader.cancel(), REST_MS);
  await reading;
  clearTimeout(rest);
  clearTimeout(timer);
  return isInterrupted ? Math.max(1, code) : code;
}

function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
