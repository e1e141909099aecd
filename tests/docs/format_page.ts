/** A page's text, formatted as `deno fmt` does. */
export async function formatPage(text: string): Promise<string> {
  const format = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--config", new URL("../../deno.json", import.meta.url).pathname, "--ext", "md", "-"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = format.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { success, stdout } = await format.output();
  if (!success) throw new Error("Cannot format a page");
  return new TextDecoder().decode(stdout);
}
