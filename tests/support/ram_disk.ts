import { statfsSync } from "node:fs";

const RAM_DISK = "/dev/shm";
// A whole run writes less than half of it.
const FREE_BYTES_MIN = 2 ** 31;

/** Options of Deno.makeTempDir() for PostgreSQL's files: in memory, where Linux has a large enough disk for that. */
export const IN_MEMORY: { readonly dir?: string } = hasRamDisk() ? { dir: RAM_DISK } : {};

function hasRamDisk(): boolean {
  try {
    const { bavail, bsize } = statfsSync(RAM_DISK);
    return bavail * bsize >= FREE_BYTES_MIN;
  } catch {
    return false;
  }
}
