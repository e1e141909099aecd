/**
 * Kills this process if it is still there after so long, whatever its main thread does then.
 *
 * That thread may stand still for ever in Deno.exit(): the runtime exports what it has measured there, and waits for measurements
 * of the thread that waits. So the time is kept by another one.
 */
export function endWithin(ms: number): void {
  const code = `setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), ${ms})`;
  new Worker(`data:text/javascript,${encodeURIComponent(code)}`, {
    type: "module",
    name: "hindcast-exit",
    deno: { permissions: "none" },
  });
}
