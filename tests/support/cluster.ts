import { createTestDatabase } from "./database.ts";
import { type RunningProcess, startProcess } from "./process.ts";

/** Lets processes of the service be started on one PostgreSQL; whoever starts them ends them. */
export async function inCluster(
  body: (
    start: (command: "serve" | "worker", more: Record<string, string>, root?: string) => Promise<RunningProcess>,
    databaseUrl: string,
  ) => Promise<void>,
): Promise<void> {
  const { url: DATABASE_URL, drop } = await createTestDatabase("service");
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const shared = { DATABASE_URL, DATA_DIR: folder, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
  try {
    await body((command, more, root) => startProcess(command, { ...shared, ...more }, [], root), DATABASE_URL);
  } finally {
    await drop();
    await Deno.remove(folder, { recursive: true });
  }
}
