/**
 * Kills this process after a time, whatever its main thread does.
 *
 * Deno.exit() exports the last metrics and may wait for ever for its own thread, so another thread keeps the time.
 */
export function killProcessAfter(ms: number): void {
  const code = `setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), ${ms})`;
  new Worker(`data:text/javascript,${encodeURIComponent(code)}`, {
    type: "module",
    name: "hindcast-exit",
    deno: { permissions: "none" },
  });
}
