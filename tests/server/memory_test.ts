import { expect } from "@std/expect";
import { measure } from "../fuzz/growth.ts";
import { copyFolder } from "../support/copy_folder.ts";
import { prepare } from "../support/prepare.ts";
import { startProcess } from "../support/process.ts";

const YEAR = "/api/market-data/ticks?symbol=DEMO&startDate=2024-01-01&endDate=2025-01-01&timeframe=1M";
// Rounds before the measured ones fill caches, and the collectors find their pace.
const FIRST_READS = 20;
const FURTHER_READS = 40;
// Collectors return memory late: it grows by some 100 MB until about the hundredth read, and not from there to the six hundredth.
// Reads that left their 11 MiB of messages behind would add twice the limit.
const GROWTH_MB_MAX = 220;

Deno.test("an embedded service that reads the same candles again and again keeps the size of its memory", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  copyFolder(`${await prepare("folder/service")}/database`, `${folder}/database`);
  const service = await startProcess("serve", { DATA_DIR: folder });
  try {
    const client = service.client();
    const readTimes = async (count: number) => {
      for (let i = 0; i < count; i++) expect((await client.get(YEAR)).status).toBe(200);
      return (await measure(service.pid)).megabytes;
    };
    const first = await readTimes(FIRST_READS);
    expect(await readTimes(FURTHER_READS) - first).toBeLessThan(GROWTH_MB_MAX);
  } finally {
    await service.end("SIGTERM");
    await Deno.remove(folder, { recursive: true });
  }
});
