/** The author's loop with a script: written, run, checked, registered. */
import { expect } from "@std/expect";
import { denoArguments } from "../../cli/commands.ts";
import { blockIn } from "../support/pages.ts";
import { runTaskCommand } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { DRY_RUN, runCommand, writeTemplate } from "./strategy_support.ts";

Deno.test("the typescript template is a script, and its README's commands run, check and register it", async () => {
  await using template = await writeTemplate("typescript");
  const { folder, readme } = template;
  const local = (words: string) =>
    blockIn(readme, "sh", words).replaceAll(`npx -y deno@${Deno.version.deno}`, Deno.execPath());
  const ran = await runCommand(local("strategy run"), folder);
  expect(ran).toMatch(/strategy\.ts: 512 candles/);
  expect(ran).toMatch(/The last 8 of 13 trades/);
  expect(ran).toMatch(/lookahead +passed/);
  expect(await runCommand(local("strategy check"), folder)).toContain(DRY_RUN);

  const service = await startTestService();
  const user = await service.user();
  const here = (words: string) =>
    local(words).replaceAll("http://127.0.0.1:8000", service.url).replace("-b jar", `-b '${user.cookie}'`);
  const registered = JSON.parse(await runCommand(here("/api/strategies"), folder));
  expect(registered).toMatchObject({ strategy: { slug: "my-typescript", runtime_type: "script", is_owner: true } });
  const { backtest } = JSON.parse(await runCommand(here("/api/backtests"), folder));
  expect((await user.finish(backtest.id)).at("/backtest/status")).toBe("completed");
  await service.close();
});

Deno.test("the python template is a script, and its README's commands run, check and register it", async () => {
  await using template = await writeTemplate("python");
  const { folder, readme } = template;
  const local = (words: string) =>
    blockIn(readme, "sh", words).replaceAll(`npx -y deno@${Deno.version.deno}`, Deno.execPath());
  const ran = await runCommand(local("strategy run"), folder);
  expect(ran).toMatch(/strategy\.py: 512 candles/);
  expect(ran).toMatch(/The last 8 of 13 trades/);
  expect(ran).toMatch(/lookahead +passed/);
  expect(await runCommand(local("strategy check"), folder)).toContain(DRY_RUN);

  const service = await startTestService();
  const user = await service.user();
  const here = (words: string) =>
    local(words).replaceAll("http://127.0.0.1:8000", service.url).replace("-b jar", `-b '${user.cookie}'`);
  const registered = JSON.parse(await runCommand(here("/api/strategies"), folder));
  expect(registered).toMatchObject({
    strategy: {
      slug: "my-python",
      runtime_type: "script",
      parameter_schema: { properties: { candles: { default: 20 } } },
    },
  });
  const { backtest } = JSON.parse(await runCommand(here("/api/backtests"), folder));
  expect((await user.finish(backtest.id)).at("/backtest/status")).toBe("completed");
  await service.close();
});

for (const lang of ["typescript", "python"]) {
  Deno.test(`the ${lang} template for many markets is checked, registered and run by its README's commands`, async () => {
    await using template = await writeTemplate(lang, "--portfolio");
    const { folder, readme } = template;
    const local = (words: string) =>
      blockIn(readme, "sh", words).replaceAll(`npx -y deno@${Deno.version.deno}`, Deno.execPath());
    const checked = await runCommand(local("strategy check"), folder);
    expect(checked).toMatch(/512 candles, [1-9]\d+ orders/);
    expect(checked).toContain("Accepted");
    expect(await Deno.readTextFile(`${folder}/AGENTS.md`)).not.toContain("strategy run");

    const service = await startTestService();
    const user = await service.user();
    const here = (words: string) =>
      local(words).replaceAll("http://127.0.0.1:8000", service.url).replace("-b jar", `-b '${user.cookie}'`);
    const registered = JSON.parse(await runCommand(here("/api/strategies"), folder));
    expect(registered).toMatchObject({
      strategy: {
        slug: `my-${lang}`,
        runtime: { decidesOn: "markets" },
        parameter_schema: { properties: { top: {} } },
      },
    });
    const { backtest } = JSON.parse(await runCommand(here("/api/backtests"), folder));
    const ended = await user.finish(backtest.id);
    expect([ended.at("/backtest/status"), ended.at("/backtest/error")]).toEqual(["completed", null]);
    expect(Number(ended.at("/backtest/result/metrics/trades"))).toBeGreaterThan(10);
    await service.close();
  });
}

const BUYS = `strategy(() => ({
  decide(i, { close }, account, orders) {
    if (i === 0) orders.buy();
    if (i % 2 === 0) plot("twice the close", 2 * close[i]);
  },
}));`;

Deno.test("run takes a file of candles and says why a script fails", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const rows = Array.from({ length: 60 }, (_, day) => {
    const date = new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10);
    return `${date},${100 + day},${102 + day},${99 + day},${101 + day},5`;
  });
  await Deno.writeTextFile(`${folder}/candles.csv`, ["Date,Open,High,Low,Close,Volume", ...rows].join("\n"));
  await Deno.writeTextFile(
    `${folder}/buy.ts`,
    BUYS,
  );
  const ran = await runTaskCommand("strategy", ["run", `${folder}/buy.ts`, "--data", `${folder}/candles.csv`]);
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  expect(ran.stdout).toMatch(/candles\.csv: 60 candles of 1d, 0 lines rejected/);
  expect(ran.stdout).toMatch(/2024-02-29/);
  expect(ran.stdout).toContain("Plotted: twice the close");
  // The report says what the run assumes, and the author chooses costs.
  expect(ran.stdout).toContain("\nAssumed: fill next_open, commission 0, spread 0, slippage 0\n");
  const costly = ["--commission", "0.01", "--execution", '{"slippage":{"bps":100}}'];
  const file = [`${folder}/buy.ts`, "--data", `${folder}/candles.csv`];
  const priced = await runTaskCommand("strategy", ["run", ...file, ...costly, "--json"]);
  const { metrics, trades, execution, integrity } = JSON.parse(priced.stdout);
  // Bought at the second candle's open of 101, a hundredth dearer, with a hundredth of it as the fee.
  const quantity = 10_000 / (101 * 1.01 * 1.01);
  expect(trades).toMatchObject([{ entry_price: 102.01, quantity: expect.closeTo(quantity, 6), exit_time: null }]);
  expect(metrics.fees_paid).toBeCloseTo(quantity * 102.01 * 0.01, 4);
  expect([execution.commission.rate, integrity.orders.status]).toEqual([0.01, "passed"]);
  const strict = await runTaskCommand("strategy", ["run", ...file, "--strict"]);
  expect([strict.code, strict.stderr]).toEqual([0, ""]);
  // Sydney trades from 23:00 to 05:00 UTC in January.
  const hours = Array.from({ length: 12 }, (_, n) => {
    const open = new Date(Date.UTC(2024, 0, 7 + Math.floor(n / 6), 23 + n % 6)).toISOString();
    return `${open},100,102,99,101,5`;
  });
  await Deno.writeTextFile(`${folder}/sydney.csv`, ["Date,Open,High,Low,Close,Volume", ...hours].join("\n"));
  await Deno.writeTextFile(
    `${folder}/days.ts`,
    `strategy(() => ({
      prepare({ time }) { this.day = tradingDay(time); },
      decide(i) {
        const { log } = console;
        if (i === 11) log(...this.day.candle.slice(0, 12));
      },
    }));`,
  );
  const days = ["run", `${folder}/days.ts`, "--data", `${folder}/sydney.csv`, "--asset-class", "stock"];
  const inSydney = await runTaskCommand("strategy", [...days, "--exchange", "ASX"]);
  expect(inSydney.stdout).toContain("\n0 1 2 3 4 5 0 1 2 3 4 5\n");
  await Deno.writeTextFile(`${folder}/bad.ts`, "strategy(() => ({\n  decide() { close; },\n}));");
  const failed = await runTaskCommand("strategy", ["run", `${folder}/bad.ts`]);
  expect([failed.code, failed.stdout]).toEqual([
    1,
    expect.stringMatching(/STRATEGY_FAILED: .*close is not defined .*strategy\.ts:2:/),
  ]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("run --watch runs a script again each time it is saved, whatever is wrong with it", async () => {
  await watchFile("buy.ts", new TextEncoder().encode(BUYS), async ({ file, readUntil }) => {
    await Deno.writeTextFile(file, BUYS.replace("orders.buy()", "orders.by()"));
    await readUntil(/STRATEGY_FAILED: .*orders\.by is not a function: did you mean buy\? .*strategy\.ts:3:/);
    await Deno.remove(file);
    await readUntil(/Cannot read the script .*buy\.ts: the file does not exist/);
    await Deno.writeTextFile(file, BUYS);
    await readUntil(/buy\.ts: 512 candles/);
  });
});

Deno.test("run --watch runs a module again each time it is built", async () => {
  const module = await Deno.readFile(new URL("../../strategies/examples/c/sma_cross.wasm", import.meta.url));
  await watchFile("cross.wasm", module, async ({ file, readUntil }) => {
    await Deno.writeTextFile(file, "no module");
    await readUntil(/STRATEGY_FAILED: Cannot use the module: it does not begin with/);
    await Deno.writeFile(file, module);
    await readUntil(/cross\.wasm: 512 candles/);
  });
});

const WATCHED_MS_MAX = 300_000;

interface Watched {
  readonly file: string;
  /** Reads on until the command has said this. */
  readonly readUntil: (wanted: RegExp) => Promise<void>;
}

/** Watches a file by the task, until the act is done. */
async function watchFile(
  name: string,
  content: Uint8Array,
  act: (watched: Watched) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const file = `${folder}/${name}`;
  await Deno.writeFile(file, content);
  const watching = new Deno.Command(Deno.execPath(), {
    args: [...denoArguments("strategy", ".data"), "run", file, "--watch"],
    cwd: new URL("../..", import.meta.url),
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  // One that never says what is waited for must not hold up all tests.
  const late = setTimeout(() => watching.kill("SIGKILL"), WATCHED_MS_MAX);
  const reader = watching.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const readUntil = async (wanted: RegExp) => {
    let text = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      if (wanted.test(text)) return;
    }
    throw new Error(`It ended before it said ${wanted}: ${text}`);
  };
  await readUntil(new RegExp(`Watching ${name}`));
  await act({ file, readUntil });
  clearTimeout(late);
  watching.kill("SIGKILL");
  await reader.cancel();
  await watching.status;
  await Deno.remove(folder, { recursive: true });
}
