/**
 * The folder of the embedded database where DATA_DIR is unset. Run as a script, it prints the folder that deno.json's tasks may
 * read and write; it imports nothing, so that it starts at once.
 */
export const DATA_DIR_DEFAULT = ".data";

if (import.meta.main) {
  // A permission cannot hold a comma; the service refuses such a path in words.
  const folder = (Deno.env.get("DATA_DIR") ?? "").split(",")[0] || DATA_DIR_DEFAULT;
  await Deno.stdout.write(new TextEncoder().encode(folder));
}
