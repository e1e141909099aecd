import { expect } from "@std/expect";
import { runIn } from "./run_in.ts";

const SOURCE = `
import { closedAfterTest } from ${JSON.stringify(new URL("./left_open.ts", import.meta.url).href)};

function open() {
  const listener = Deno.listen({ port: 0 });
  const timer = setInterval(() => {}, 1);
  closedAfterTest(async () => {
    clearInterval(timer);
    listener.close();
  });
}
const waitABit = () => new Promise((resume) => setTimeout(resume, 20));

Deno.test("fails", () => {
  open();
  throw new Error("on purpose");
});
Deno.test("fails in a step", async (t) => {
  await t.step("a step", () => {
    open();
    throw new Error("on purpose");
  });
});
Deno.test("comes after it", waitABit);
`;

Deno.test("a test that fails leaves nothing open that fails those after it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.writeTextFile(`${folder}/given_test.ts`, SOURCE);
  const args = ["test", "--no-config", "--no-check", "--allow-net", "given_test.ts"] as const;
  const { code, stdout } = await runIn(folder, [Deno.execPath(), ...args], { NO_COLOR: "1" });
  await Deno.remove(folder, { recursive: true });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^fails \.\.\. FAILED/m);
  expect(stdout).toMatch(/^comes after it \.\.\. ok/m);
  expect(stdout).not.toMatch(/leak|was started|was created/i);
});
