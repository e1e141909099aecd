/** The examples of README.md do what it says. */
import { expect } from "@std/expect";
import { blockIn, readPage, runLines } from "../support/pages.ts";
import { startTestService } from "../support/service.ts";

const README = await readPage("README.md");

Deno.test("the README's lines of curl go from sign-up to trades", async () => {
  const service = await startTestService();
  const cwd = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const script = blockIn(README, "sh", "-c jar").replace("http://127.0.0.1:8000", service.url);
  expect(script).toContain(service.url);
  // The second time, the user is known.
  for (const lines of [script, script.replace("sign-up", "sign-in")]) {
    const { code, stdout, stderr } = await runLines(lines, { cwd });
    expect([code, stderr]).toEqual([0, ""]);
    const { trades } = JSON.parse(stdout);
    expect(trades.length).toBeGreaterThan(5);
    expect(trades[0]).toMatchObject({ number: 1, side: expect.stringMatching(/^(long|short)$/) });
  }
  await Deno.remove(cwd, { recursive: true });
  await service.close();
});
