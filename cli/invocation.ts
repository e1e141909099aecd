/** The folder in which the user called the command: a task itself runs in the repository's folder. */
export function invocationFolder(): string {
  return Deno.env.get("INIT_CWD") ?? Deno.cwd();
}
