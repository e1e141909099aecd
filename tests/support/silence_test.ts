import { expect } from "@std/expect";
import { listDescendants } from "./processes.ts";
import { endWhenSilent } from "./silence.ts";
import { until } from "./until.ts";

/**
 * Runs tests that are given as text.
 *
 * @param begins Waits until they have begun; the silence counts from then.
 * @returns The exit code and what was said.
 */
async function runTests(
  source: string,
  silenceMsMax: number,
  begins: (tests: Deno.ChildProcess) => Promise<unknown> = () => Promise.resolve(),
): Promise<{ code: number; said: string }> {
  const file = await Deno.makeTempFile({ suffix: "_test.ts" });
  await Deno.writeTextFile(file, source);
  const tests = new Deno.Command(Deno.execPath(), {
    args: ["test", "--no-config", "--no-check", "--allow-run", file],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  await begins(tests);
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const code = await endWhenSilent(tests, silenceMsMax, (part) => void parts.push(part.slice()));
  await Deno.remove(file);
  return { code, said: await new Blob(parts).text() };
}

Deno.test("a test that waits for ever is named, and what it has started is ended", async () => {
  const source = `Deno.test("waits for what never comes", async () => {
    await new Deno.Command("sleep", { args: ["1000"], stdout: "inherit" }).output();
  });`;
  const { code, said } = await runTests(source, 3000, ({ pid }) => until(() => listDescendants(pid).length > 0));
  expect([code, said]).toEqual([expect.any(Number), expect.stringMatching(/pending:[^]*waits for what never comes/)]);
  expect(code).toBeGreaterThan(0);
});

Deno.test("tests that end are told of as they say it", async () => {
  const good = await runTests(`Deno.test("is true", () => {});`, 60_000);
  expect([good.code, good.said]).toEqual([0, expect.stringContaining("1 passed")]);
  const bad = await runTests(`Deno.test("is false", () => { throw new Error("no"); });`, 60_000);
  expect([bad.code, bad.said]).toEqual([1, expect.stringContaining("1 failed")]);
});
