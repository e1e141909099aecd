/** `strategy test`: assertions over known candles, and the tests that templates bring. */
import { expect } from "@std/expect";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { blockIn, readPage } from "../support/pages.ts";
import { runTaskCommand } from "../support/process.ts";
import { runCommand, writeTemplate } from "./strategy_support.ts";

const SCRIPT = `strategy(({ period = 2 }: { period?: number }) => ({
  warmup: period + 1,
  decide(i, { close }, account, orders) {
    if (account.quantity === 0 && close[i] > close[i - period]) orders.buy({ size: 3, sizeBy: "units", tag: "rise" });
    else if (close[i] < 5) throw new RangeError("too cheap");
    console["log"](i);
  },
}));`;
const CLOSES = [10, 10, 10, 12, 13];

/** Writes a strategy with tests, and runs them. */
async function test(tests: unknown, ...options: readonly string[]) {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.writeTextFile(`${folder}/mine.ts`, SCRIPT);
  const text = typeof tests === "string" ? tests : JSON.stringify(tests);
  await Deno.writeTextFile(`${folder}/mine.test.json`, text);
  await Deno.writeTextFile(
    `${folder}/days.csv`,
    `time,open,high,low,close,volume\n${
      CLOSES.map((close, i) => `2024-01-0${i + 1},${close},${close},${close},${close},1`).join("\n")
    }\n`,
  );
  const ended = await runTaskCommand("strategy", ["test", `${folder}/mine.ts`, ...options]);
  await Deno.remove(folder, { recursive: true });
  return ended;
}

Deno.test("tests that hold end with 0, over prices, a file and the generated days", async () => {
  const order = { candle: 3, side: "buy", type: "market", quantity: 3, tag: "rise", status: "filled", price: 12 };
  const { code, stdout, stderr } = await test([
    {
      name: "buys three",
      closes: CLOSES,
      expect: {
        orders: [order],
        // 3 x (13 - 12), marked at the last close.
        trades: [{ side: "long", quantity: 3, entry_candle: 4, exit_candle: null, pnl: 3 }],
        metrics: { open_trades: 1, trades: 0 },
        log: ["2", "3", "4"],
      },
    },
    { name: "waits longer", closes: CLOSES, parameters: { period: 4 }, expect: { orders: [{ candle: 4 }] } },
    // Its candles open where they close.
    { name: "of a file", data: "days.csv", expect: { orders: [{ ...order, price: 13 }] } },
    { name: "fails", closes: [10, 10, 4], expect: { error: "RangeError: too cheap at decide (strategy.ts:5:" } },
    { name: "generated days", expect: {} },
  ]);
  expect([code, stderr, stdout]).toEqual([0, "", expect.stringMatching(/ok +buys three .*5 of 5 tests held/s)]);
});

Deno.test("a strategy that decides on many markets is refused with the line that runs it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.writeTextFile(`${folder}/many.ts`, "portfolio(() => ({ decide() {} }));");
  await Deno.writeTextFile(`${folder}/many.test.json`, JSON.stringify([{ name: "any", expect: {} }]));
  const { code, stdout, stderr } = await runTaskCommand("strategy", ["test", `${folder}/many.ts`]);
  await Deno.remove(folder, { recursive: true });
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(
    /many\.ts over one market: it decides on many\. Instead: hindcast run .*many\.ts ALDER@SAMPLE,/,
  );
});

Deno.test("a test that does not hold ends with 1, and says what was found", async () => {
  const { code, stdout } = await test([
    { name: "wrong", closes: CLOSES, expect: { orders: [{ candle: 2, fee: 1 }, { candle: 4 }], log: [] } },
    { name: "fails", closes: [10, 10, 4], expect: { trades: [] } },
    { name: "does not fail", closes: CLOSES, expect: { error: "too cheap" } },
  ]);
  expect(code).toBe(1);
  for (
    const words of [
      "orders/0/candle: expected 2, found 3",
      "orders/0/fee: there is none; there are candle, side, type",
      "orders: expected 2, found 1",
      'log: expected [], found ["2","3","4"]',
      "the run failed: Cannot go on at candle 2",
      'error: expected "too cheap", found "a run that completed"',
      "mine.test.json: 0 of 3 tests held.",
    ]
  ) expect(stdout).toContain(words);
});

Deno.test("a file of tests that cannot be used ends with 2, and names the place", async () => {
  for (
    const [tests, words] of [
      ["[", "Cannot read the tests"],
      ["[]", "must be at least 1 entry long"],
      [[{ name: "a", expects: {} }], "/0/expect"],
      [[{ name: "a", closes: [1], data: "b", expect: {} }], "/0 has closes and data: choose one"],
      [[{ name: "a", closes: [-1], expect: {} }], "/0/closes/0"],
    ] as const
  ) {
    const { code, stderr } = await test(tests);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  }
  expect((await test([], "nowhere.json")).stderr).toContain("the file does not exist");
});

Deno.test("the tests of docs/strategies.md hold for the script of its template", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const page = await readPage("docs/strategies.md");
  await Deno.writeTextFile(`${folder}/page.json`, blockIn(page, "json", '"closes"'));
  const momentum = fileURLToPath(import.meta.resolve("../../strategies/scripts/momentum.ts"));
  const { code, stdout } = await runTaskCommand("strategy", ["test", momentum, `${folder}/page.json`]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("page.json: 1 of 1 tests held.")]);
  await Deno.remove(folder, { recursive: true });
});

for (const lang of ["typescript", "python"]) {
  Deno.test(`the ${lang} template brings tests that hold`, async () => {
    await using template = await writeTemplate(lang);
    const command = blockIn(template.readme, "sh", "strategy test")
      .replaceAll(`npx -y deno@${Deno.version.deno}`, Deno.execPath());
    expect(await runCommand(command, template.folder)).toContain("2 of 2 tests held");
  });
}

for (const flags of [[], ["--portfolio"]]) {
  Deno.test(`the tsconfig.json of ${["typescript", ...flags].join(" ")} knows what the sandbox has, and nothing else`, async () => {
    await using template = await writeTemplate("typescript", ...flags);
    const { folder } = template;
    const check = () => {
      const read = ts.readConfigFile(`${folder}/tsconfig.json`, (path) => Deno.readTextFileSync(path));
      const { fileNames, options } = ts.parseJsonConfigFileContent(read.config, ts.sys, folder);
      const program = ts.createProgram(fileNames, options);
      return ts.getPreEmitDiagnostics(program).map(({ messageText }) =>
        ts.flattenDiagnosticMessageText(messageText, " ")
      );
    };
    expect(check()).toEqual([]);
    await Deno.writeTextFile(`${folder}/strategy.ts`, "\nsetTimeout(() => fetch(document.title), 1);\n", {
      append: true,
    });
    expect(check()).toEqual([
      "Cannot find name 'setTimeout'.",
      "Cannot find name 'fetch'.",
      expect.stringContaining("Cannot find name 'document'."),
    ]);
  });
}
