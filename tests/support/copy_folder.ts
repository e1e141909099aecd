import { join } from "node:path";

/** Copies a folder to a place where there is nothing yet. */
export function copyFolder(from: string, to: string): void {
  // As the service makes its folder: it refuses one with files that others may enter.
  Deno.mkdirSync(to, { mode: 0o700 });
  for (const entry of Deno.readDirSync(from)) {
    if (entry.isDirectory) copyFolder(join(from, entry.name), join(to, entry.name));
    else Deno.copyFileSync(join(from, entry.name), join(to, entry.name));
  }
}
