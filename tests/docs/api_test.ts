/** docs/api.md agrees with the code: its examples are sent, and its tables compared. */
import { expect } from "@std/expect";
import { tableFromIPC } from "apache-arrow";
import manifest from "../../deno.json" with { type: "json" };
import { DEPTH_MAX } from "../../routers/common/text.ts";
import { SETTINGS } from "../../server/config.ts";
import { BODY_BYTES_MAX, PLAIN_BYTES_MAX, SMALL_BODY_BYTES_MAX } from "../../server/middleware/body.ts";
import { ANSWER_LIMITS, EVENT_LIMITS } from "../../server/answers/stream_limits.ts";
import words from "../../server/openapi/field_words.json" with { type: "json" };
import { ROUTES } from "../../server/rest/routes.ts";
import { INTERNAL_ERROR, RUN_FAILURE_CODES } from "../../workers/common/outcome.ts";
import { blockIn, listFiles, readPage, ROOT, runLines } from "../support/pages.ts";
import { startTestService } from "../support/service.ts";

const PAGE = await readPage("docs/api.md");
const SOURCES = await Promise.all(
  (await listFiles()).filter((path) => /^(market|routers|server)\/.*\.ts$/.test(path))
    .map((path) => Deno.readTextFile(`${ROOT}${path}`)),
);
const BYTES: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
/** Limits that no variable sets: the row's name, the number in it, and its home. */
const FIXED: readonly (readonly [row: string, position: number, home: string | number])[] = [
  ["body", 0, PLAIN_BYTES_MAX],
  ["body", 1, BODY_BYTES_MAX],
  ["body below `/api/auth`", 0, SMALL_BODY_BYTES_MAX],
  ["nesting of JSON", 0, DEPTH_MAX],
  ["WASM module", 0, "MODULE_BYTES_MAX"],
  ["candles in one answer", 0, "RANGE_CANDLES_MAX"],
  ["candles in one answer", 1, "PAGE_CANDLES_MAX"],
  ["`parameters` of a backtest", 0, "PARAMETERS_BYTES_MAX"],
  ["`parameters` of a backtest", 1, "STEPS_MAX"],
  ["`parameters` of a backtest", 2, "INSTRUMENTS_BYTES_MAX"],
  ["`default_config` and `parameter_schema`", 0, "DESCRIPTION_BYTES_MAX"],
  ["`timeoutMs` of an endpoint", 0, "TIMEOUT_MS_MAX"],
  ["bytes of a page; of a batch's lists", 0, "PAGE_BYTES_MAX"],
  ["bytes of a page; of a batch's lists", 1, "REQUEST_BYTES_MAX"],
  ["fetches from providers without a session", 0, "ADDRESS_FETCHES_MAX"],
  ["long answers under way", 0, ANSWER_LIMITS.addressMax],
  ["long answers under way", 2, ANSWER_LIMITS.max],
  ["event streams", 0, EVENT_LIMITS.addressMax],
  ["event streams", 2, EVENT_LIMITS.max],
  ["points of an optimization", 0, "TRIALS_MAX_DEFAULT"],
  ["points of an optimization", 1, "TRIALS_MAX"],
  ["cells of a surface", 0, "CELLS_MAX"],
  ["trials of a complete list by a metric", 0, "SORTED_TRIALS_MAX"],
  ["a user's modules that wait for a check", 0, "CHECKS_MAX"],
  ["a user's tokens", 0, "TOKENS_MAX"],
  ["a user's tokens", 1, "TOKEN_DAYS_MAX"],
  ["calls in a tRPC batch", 0, "BATCH_CALLS_MAX"],
  ["calls in a tRPC batch", 1, "BATCH_CANDLES_MAX"],
];

Deno.test("the guide is short, and leads to the description of every field", () => {
  expect(new TextEncoder().encode(PAGE).length).toBeLessThanOrEqual(30 * 1024);
  for (const path of ["`GET /docs`", "`GET /openapi.json`"]) expect(PAGE).toContain(path);
});

Deno.test("every operation that the guide names is a route", () => {
  const served = ROUTES.map(({ method, path }) => `${method} ${path}`);
  const named = [...PAGE.matchAll(/`((?:GET|POST|PATCH|DELETE) \/api\/[^`?]*)[^`]*`/g)].map(([, operation]) =>
    operation!
  )
    .filter((operation) => !operation.includes("/api/auth/"));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((operation) => !served.includes(operation))).toEqual([]);
});

Deno.test("the description has the codes of failed runs, and no other", () => {
  const named = [...words["error.code"].matchAll(/^- `([A-Z_]+)`/gm)].map(([, code]) => code);
  expect(named.toSorted()).toEqual([...RUN_FAILURE_CODES, INTERNAL_ERROR.code].toSorted());
});

Deno.test("the table of limits has the numbers of the code", () => {
  const [, section = ""] = /^## Limits\n(.*?)^## /ms.exec(PAGE) ?? [];
  const rows = section.split("\n").map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()))
    .filter((cells) => cells.length === 3);
  const numbers = (row: string) => {
    const [, text = ""] = rows.find(([name]) => name === row) ?? [];
    return [...text.matchAll(/(\d[\d,]*)(?: (KiB|MiB|GiB))?/g)]
      .map(([, digits = "", unit]) => Number(digits.replaceAll(",", "")) * (unit === undefined ? 1 : BYTES[unit]!));
  };
  for (const [name = "", , variable = ""] of rows.filter(([, , cell = ""]) => cell.startsWith("`"))) {
    const setting = SETTINGS.find((one) => `\`${one.variable}\`` === variable);
    expect([name, `\`${numbers(name)[0]}\``]).toEqual([name, setting?.defaultText]);
  }
  for (const [row, position, home] of FIXED) {
    const value = typeof home === "number" ? home : findConstant(home);
    expect([row, numbers(row)[position]]).toEqual([row, value]);
  }
});

/** The number that a constant is in the source, for those that no module exports. */
function findConstant(name: string): number | undefined {
  const found = new RegExp(`^(?:export )?const ${name} = ([\\d_ *]+);`, "m");
  const [, product] = SOURCES.map((source) => found.exec(source)).find((match) => match !== null) ?? [];
  return product?.split("*").map((factor) => Number(factor.replaceAll("_", ""))).reduce((a, b) => a * b);
}

Deno.test("the examples of requests and answers are real ones", async () => {
  const service = await startTestService();
  const user = await service.user();
  const ticks = "symbol=DEMO&startDate=2024-01-01&endDate=2024-01-02&timeframe=1d";
  const shown = (holds: string): unknown => JSON.parse(blockIn(PAGE, "json", holds));
  expect((await user.get(`/api/market-data/ticks?${ticks}`)).at("")).toEqual(shown('"ticks":'));

  const cwd = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.writeTextFile(`${cwd}/jar`, user.jar());
  const lines = blockIn(PAGE, "sh", "Authorization: Bearer").replace("http://127.0.0.1:8000", service.url);
  const { code, stdout, stderr } = await runLines(lines, { cwd });
  await Deno.remove(cwd, { recursive: true });
  expect([code, stderr, JSON.parse(stdout).session.scope]).toEqual([0, "", "run"]);

  const health = (await user.get("/api/health")).at("");
  const example = shown('"uptime_seconds":');
  expect(health).toEqual({
    ...Object(example),
    version: manifest.version,
    workers: expect.stringMatching(/^(alive|none)$/),
    uptime_seconds: expect.any(Number),
  });

  const request = blockIn(PAGE, "json", '"initial_balance":');
  const created = await user.send("POST", "/api/backtests", JSON.parse(request));
  expect([created.status, created.headers.get("location")])
    .toEqual([202, `/api/backtests/${created.at("/backtest/id")}`]);
  const ended = await user.finish(created.at("/backtest/id"));
  expect(ended.at("/backtest/status")).toBe("completed");
  const refused = await user.send("POST", "/api/backtests", JSON.parse(request.replace("10000", "-1")));
  const error = refused.at("/error");
  expect({ error: { ...Object(error), request_id: "" } })
    .toEqual(JSON.parse(blockIn(PAGE, "json", '"request_id":').replace(/"request_id": "[^"]+"/, '"request_id": ""')));

  const { backtest } = Object(ended.at(""));
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.writeTextFile(`${folder}/jar`, user.jar());
  const saving = blockIn(PAGE, "sh", "trades?format=csv");
  const saved = await runLines(saving, { cwd: folder, env: { API: `${service.url}/api`, ID: backtest.id } });
  expect([saved.code, saved.stderr]).toEqual([0, ""]);
  expect((await Deno.readTextFile(`${folder}/trades.csv`)).startsWith("number,side,quantity,entry_time,")).toBe(true);
  // An hour each of half a leap year.
  expect(tableFromIPC(await Deno.readFile(`${folder}/equity.arrow`)).numRows).toBe(182 * 24);
  await Deno.remove(folder, { recursive: true });

  const walk = async (path: string, sent: string, answered: string, fields: object = {}) => {
    const asked = JSON.parse(blockIn(PAGE, "json", sent));
    const [[name, body]] = Object.entries<object>(asked) as [[string, object]];
    const made = await user.send("POST", path, { [name]: { ...body, ...fields } });
    expect([made.status, made.at("/error")]).toEqual([expect.any(Number), undefined]);
    return { made, expected: Object(shown(answered)) };
  };
  const optimized = await walk("/api/optimizations", '"constraints": ["fast < slow"]', '"constrained":');
  const tried = await user.get(`/api/optimizations/${optimized.made.at("/optimization/id")}?wait=30`);
  expect(tried.at("")).toMatchObject(optimized.expected);
  const simulated = await walk("/api/monte-carlo", '"backtest_id":', '"ruin_drawdown":', { backtest_id: backtest.id });
  expect(simulated.made.at("")).toMatchObject(simulated.expected);
  const listed = await user.send("POST", "/api/universes", shown('"members":'));
  expect([listed.status, listed.at("/universe/members")]).toEqual([201, 2]);
  const registered = await walk("/api/strategies", '"initial_version":', '"is_owner":');
  expect(registered.made.at("")).toMatchObject(registered.expected);
  await service.close();
});
