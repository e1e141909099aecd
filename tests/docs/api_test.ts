/** docs/api.md agrees with the code: its examples are sent, and its tables compared. */
import { expect } from "@std/expect";
import { tableFromIPC } from "apache-arrow";
import manifest from "../../deno.json" with { type: "json" };
import { appRouter } from "../../routers/app.ts";
import { AppError, type ErrorCode, errorStatus } from "../../routers/errors.ts";
import { DEPTH_MAX } from "../../routers/text.ts";
import { SETTINGS } from "../../server/config.ts";
import { AUTH_BYTES_MAX, BODY_BYTES_MAX, PLAIN_BYTES_MAX } from "../../server/middleware/body.ts";
import { ANSWER_LIMITS, EVENT_LIMITS } from "../../server/middleware/stream_limits.ts";
import { ROUTES } from "../../server/rest.ts";
import { INTERNAL_ERROR, RUN_FAILURE_CODES } from "../../workers/outcome.ts";
import { blockIn, listFiles, readPage, ROOT, rowsOf, runLines } from "../support/pages.ts";
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
  ["body below `/api/auth`", 0, AUTH_BYTES_MAX],
  ["nesting of JSON", 0, DEPTH_MAX],
  ["WASM module", 0, "MODULE_BYTES_MAX"],
  ["candles in one answer", 0, "RANGE_CANDLES_MAX"],
  ["candles in one answer", 1, "PAGE_CANDLES_MAX"],
  ["`parameters` of a backtest", 0, "PARAMETERS_BYTES_MAX"],
  ["`parameters` of a backtest", 1, "STEPS_MAX"],
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

Deno.test("the table of routes has every route with its status and access, and no other", () => {
  const named = rowsOf(PAGE).filter(([method = ""]) => /^`(GET|POST|PATCH|DELETE)`$/.test(method))
    .map(([method, path, status, access]) => [method, path, status, access].join(" ").replaceAll("`", ""));
  const served = ROUTES.map(({ method, path, status, access }) => `${method} ${path} ${status} ${access}`);
  expect(named.toSorted()).toEqual(served.toSorted());
});

Deno.test("the list of the typed client's procedures has every one", () => {
  const [, section = ""] = /^## The typed client\n(.*?)^```/ms.exec(PAGE) ?? [];
  const unnamed = Object.keys(appRouter._def.procedures).filter((procedure) => {
    const [router = "", name = ""] = procedure.split(".");
    // A router's name stands before the first of its procedures alone: the next router's name ends its part.
    const [, rest = ""] = section.split(`\`${router}.`);
    const [own = ""] = rest.split(/`[a-zA-Z]+\./);
    return !own.startsWith("*`") && !new RegExp(`(^|\`\\.)${name}\``).test(own);
  });
  expect(unnamed).toEqual([]);
});

Deno.test("the table of errors has every code with its status, and no other", async () => {
  const [, table = ""] = /const TRPC_CODES = \{(.*?)\}/s.exec(await Deno.readTextFile(`${ROOT}routers/errors.ts`)) ??
    [];
  const codes = [...table.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, code = ""]) => code);
  const rows = rowsOf(PAGE).filter(([, status = ""]) => /^[45]\d\d$/.test(status));
  expect(rows.map(([code = ""]) => code.slice(1, -1)).toSorted()).toEqual(codes.toSorted());
  for (const [code = "", status] of rows) {
    const known = codes.find((each): each is ErrorCode => `\`${each}\`` === code)!;
    expect([code, String(errorStatus(new AppError(known, "")))]).toEqual([code, status]);
  }
});

Deno.test("the codes of failed backtests are those of a run's outcome", () => {
  const [, section = ""] = /`error\.code` is one of these:\n(.*?)`result` has:/s.exec(PAGE) ?? [];
  expect(rowsOf(section).map(([code = ""]) => code.slice(1, -1)).toSorted()).toEqual(
    [...RUN_FAILURE_CODES, INTERNAL_ERROR.code].toSorted(),
  );
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

Deno.test("the examples of requests and answers are real ones, and every field of a backtest is named", async () => {
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
  const path = `/api/backtests/${backtest.id}`;
  const first = async (list: string) => Object((await user.get(`${path}/${list}`)).list(`/${list}`)[0]);
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.writeTextFile(`${folder}/jar`, user.jar());
  const saving = blockIn(PAGE, "sh", "trades?format=csv");
  const saved = await runLines(saving, { cwd: folder, env: { API: `${service.url}/api`, ID: backtest.id } });
  expect([saved.code, saved.stderr]).toEqual([0, ""]);
  expect((await Deno.readTextFile(`${folder}/trades.csv`)).startsWith("number,side,quantity,entry_time,")).toBe(true);
  // An hour each of half a leap year.
  expect(tableFromIPC(await Deno.readFile(`${folder}/equity.arrow`)).numRows).toBe(182 * 24);
  await Deno.remove(folder, { recursive: true });

  const known = new Set(Object.keys(JSON.parse(request).backtest));
  const fields = [backtest, backtest.result, await first("trades"), await first("orders"), await first("equity")]
    .flatMap((each) => Object.keys(each)).filter((field) => !known.has(field));
  const [, section = ""] = /^### A backtest\n(.*?)^## Strategies/ms.exec(PAGE) ?? [];
  expect(fields.filter((field) => !new RegExp(`[\`{ ]${field}[\`},]`).test(section))).toEqual([]);
  await service.close();
});
