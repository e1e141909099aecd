/** Long lists of trials, trades and orders, from a service with the permissions of its task. */
import { expect } from "@std/expect";
import { tableFromIPC } from "apache-arrow";
import { CHUNK_ROWS, EQUITY_CHUNK_ROWS } from "../../db/codec/result_parts.ts";
import { BACKTEST } from "../support/client.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { copyFolder } from "../support/copy_folder.ts";
import { prepare } from "../support/prepare.ts";
import { startProcess } from "../support/process.ts";

const SPACE = { fast: { min: 1, max: 11, step: 1 }, slow: { min: 30, max: 48, step: 1 } };
const TRIALS = 11 * 19;

Deno.test("a long list of trials is that of its pages, whatever its format, and by a metric it is sorted", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  copyFolder(`${await prepare("folder/service")}/database`, `${folder}/database`);
  const service = await startProcess("serve", { DATA_DIR: folder });
  try {
    const user = service.client();
    await user.signUp();
    const id = await submitOptimization(user, { space: SPACE, end_date: "2024-01-08" });
    expect((await finishOptimization(user, id)).at("/optimization/trials/done")).toBe(TRIALS);
    const path = `/api/optimizations/${id}/trials`;
    const listPages = async (query: string) => {
      const listed: unknown[] = [];
      for (let cursor = "";;) {
        const page = await user.get(`${path}?limit=200${query}${cursor}`);
        listed.push(...page.list("/trials"));
        const next = page.at("/next_cursor");
        if (next === null) return listed.map(Object);
        cursor = `&cursor=${next}`;
      }
    };
    const trials = await listPages("");
    expect(trials.map(({ number }) => number)).toEqual(Array.from({ length: TRIALS }, (_, i) => i + 1));

    await t.step("JSON has the bytes of the pages' trials", async () => {
      const { text } = await user.get(path);
      // One line says enough where they differ.
      expect(text === JSON.stringify({ trials, next_cursor: null })).toBe(true);
    });
    await t.step("CSV has the lines of the pages", async () => {
      const lines: string[] = [];
      for (const cursor of await cursorsOf(user, path)) {
        const [head = "", ...rows] = (await user.get(`${path}?limit=200&format=csv${cursor}`)).text.trimEnd().split(
          "\n",
        );
        lines.push(...(lines.length === 0 ? [head] : []), ...rows);
      }
      expect((await user.get(`${path}?format=csv`)).text).toBe(`${lines.join("\n")}\n`);
    });
    await t.step("Arrow has their values", async () => {
      const answer = await fetch(`${service.url}${path}?format=arrow`, { headers: { cookie: user.cookie } });
      const rows = tableFromIPC(new Uint8Array(await answer.arrayBuffer())).toArray().map((row) => row.toJSON());
      const flat = trials.map((
        { number, parameters, metrics },
      ) => [number, parameters.fast, parameters.slow, metrics.sharpe]);
      expect(rows.map((row) => [row.number, row["parameters.fast"], row["parameters.slow"], row.sharpe])).toEqual(flat);
    });
    await t.step("pages and the whole list by a metric are sorted", async () => {
      const sorted = (await user.get(`${path}?sort=total_return`)).list("/trials").map(Object);
      expect(sorted).toEqual(
        trials.toSorted((a, b) => b.metrics.total_return - a.metrics.total_return || a.number - b.number),
      );
      expect(await listPages("&sort=total_return")).toEqual(sorted);
      expect((await listPages("&order=desc")).map(({ number }) => number)).toEqual(
        trials.map(({ number }) => number).reverse(),
      );
    });
  } finally {
    await service.end("SIGTERM");
    await Deno.remove(folder, { recursive: true });
  }
});

/** Rises and falls often enough for lists of several stored chunks. */
const MANY_TRADES = { end_date: "2024-02-01", parameters: { timeframe: "1m", fast: 1, slow: 2 }, initial_balance: 1e9 };

Deno.test("a whole list of trades or orders is that of its pages, whatever its format", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  copyFolder(`${await prepare("folder/service")}/database`, `${folder}/database`);
  const service = await startProcess("serve", { DATA_DIR: folder, USER_REQUESTS_PER_MINUTE: "100000" });
  const user = service.client();
  await user.signUp();
  for (const backtest of [{ ...BACKTEST, ...MANY_TRADES }, BACKTEST]) {
    const submitted = await user.send("POST", "/api/backtests", { backtest });
    const id = submitted.at("/backtest/id");
    expect((await user.finish(id)).at("/backtest/status")).toBe("completed");
    await t.step(
      `returns of ${backtest.parameters.timeframe}, whose days lie in several pieces of the curve`,
      async () => {
        const [, ...lines] = (await user.get(`/api/backtests/${id}/equity?format=csv`)).text.trimEnd().split("\n");
        const marks = new Map(
          lines.map((line) => line.split(",")).map(([time = "", mark]) => [time.slice(0, 10), mark]),
        );
        const returns = (await user.get(`/api/backtests/${id}/returns?period=daily`)).list("/returns").map(Object);
        expect(returns.map(({ timestamp, equity }) => [timestamp.slice(0, 10), String(equity)])).toEqual([...marks]);
        if (backtest !== BACKTEST) expect(lines.length).toBeGreaterThan(EQUITY_CHUNK_ROWS);
      },
    );
    for (const part of ["trades", "orders"]) {
      await t.step(`${part} of ${backtest.parameters.timeframe}`, async () => {
        const path = `/api/backtests/${id}/${part}`;
        const cursors = await cursorsOf(user, path);
        const pages = [];
        for (const cursor of cursors) pages.push(await user.get(`${path}?limit=200${cursor}`));
        const rows = pages.flatMap((page) => page.list(`/${part}`)).map(Object);
        if (backtest !== BACKTEST) expect(rows.length).toBeGreaterThan(CHUNK_ROWS);
        expect(rows.map(({ number }) => number)).toEqual(Array.from(rows, (_, i) => i + 1));
        const whole = await user.get(path);
        // One line says enough where they differ.
        expect(whole.text === JSON.stringify({ [part]: rows, next_cursor: null })).toBe(true);
        const rest = JSON.stringify({ [part]: rows.slice(200), next_cursor: null });
        if (cursors.length > 1) expect((await user.get(`${path}?${cursors[1]!.slice(1)}`)).text === rest).toBe(true);
        const lines = [];
        for (const cursor of cursors) {
          const [head = "", ...own] = (await user.get(`${path}?limit=200&format=csv${cursor}`)).text.split("\n");
          lines.push(...(lines.length === 0 ? [head] : []), ...own.filter(Boolean));
        }
        expect((await user.get(`${path}?format=csv`)).text === `${lines.join("\n")}\n`).toBe(true);
        const arrow = await fetch(`${service.url}${path}?format=arrow`, { headers: { cookie: user.cookie } });
        const table = tableFromIPC(new Uint8Array(await arrow.arrayBuffer())).toArray().map((row) => row.toJSON());
        const some = (each: Record<string, unknown>) => [each.number, each.side, each.quantity, each.tag];
        expect(table.map(some)).toEqual(rows.map(some));
      });
    }
  }
  expect(await service.end("SIGTERM")).toMatchObject({ code: 0, stderr: "" });
  await Deno.remove(folder, { recursive: true });
});

async function cursorsOf(user: Parameters<typeof submitOptimization>[0], path: string): Promise<string[]> {
  const cursors = [""];
  for (;;) {
    const next = (await user.get(`${path}?limit=200${cursors.at(-1)}`)).at("/next_cursor");
    if (next === null) return cursors;
    cursors.push(`&cursor=${next}`);
  }
}
