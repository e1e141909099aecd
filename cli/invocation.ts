/** The folder in which the person stands: a task runs in the repository's, wherever it was called. */
export function invocationFolder(): string {
  return Deno.env.get("INIT_CWD") ?? Deno.cwd();
}
