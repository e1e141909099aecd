import { getLogger } from "@logtape/logtape";

// The process is gone within five seconds; another worker repeats a run that was cut off.
const SHUTDOWN_MS = 4_500;
// For the last export of traces and metrics.
const EXIT_MS = 300;

const log = getLogger(["hindcast"]);

/** Work that a signal ends. */
interface Closable {
  /** Announces the end to those who send requests, and serves on meanwhile. */
  leave?(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Runs until SIGTERM or SIGINT, then closes what runs and exits with code 0. Before it is open, a signal ends the process at once.
 *
 * @param describe The text for standard output once it is open.
 */
export async function runUntilSignal<Running extends Closable>(
  starting: Promise<Running>,
  describe: (running: Running) => string,
): Promise<void> {
  let isOpen = false;
  closeOnSignal({
    leave: async () => {
      if (isOpen) await (await starting).leave?.();
    },
    close: async () => {
      if (isOpen) await (await starting).close();
    },
  });
  const running = await starting;
  isOpen = true;
  await Deno.stdout.write(new TextEncoder().encode(describe(running)));
}

/** On SIGTERM or SIGINT, closes what runs and exits with code 0. */
export function closeOnSignal({ leave, close }: Closable): void {
  const stop = async (signal: string) => {
    log.info("Shutting down on {signal}", { signal });
    // SIGINT comes from a person at a terminal, who waits.
    if (signal === "SIGTERM") await leave?.();
    killProcessAfter(SHUTDOWN_MS + EXIT_MS);
    setTimeout(() => Deno.exit(0), SHUTDOWN_MS);
    await close();
    Deno.exit(0);
  };
  // A terminal and npx may both send a signal: the second must not cut the first one's closing short.
  let stopping: Promise<void> | undefined;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    Deno.addSignalListener(signal, () => void (stopping ??= stop(signal)));
  }
}

/**
 * Kills this process after a time, whatever its main thread does.
 *
 * Deno.exit() exports the last metrics and may wait for ever for its own thread, so another thread keeps the time.
 */
function killProcessAfter(ms: number): void {
  const code = `setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), ${ms})`;
  new Worker(`data:text/javascript,${encodeURIComponent(code)}`, {
    type: "module",
    name: "hindcast-exit",
    deno: { permissions: "none" },
  });
}
