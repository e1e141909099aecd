/** Records that a newer build wrote: this one says so, and shows the rest. */
import { expect } from "@std/expect";
import postgres from "postgres";
import { ROUTES } from "../../server/rest/routes.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { prepare } from "../support/prepare.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

const SCRIPT =
  'strategy(() => ({ decide(i, c, account, orders) { plot("close", c.close[i]); if (i % 9 === 0) orders.buy(); if (i % 9 === 4) orders.close(); } }));';

/** The paths that show a table's records. */
const SHOWN: Readonly<Record<string, RegExp>> = {
  backtests: /backtests|monte-carlo|shared/,
  result_chunks: /backtests\/.|shared/,
  result_candles: /backtests\/.|shared/,
  optimizations: /optimizations|shared/,
  scan_markets: /optimizations\/./,
  trial_chunks: /optimizations\/.|shared/,
  optimization_series: /optimizations\/./,
  monte_carlos: /monte-carlo/,
  monte_carlo_series: /monte-carlo\/./,
  stress_tests: /stress-tests/,
  strategies: /strategies/,
  strategy_versions: /strategies/,
  universe_versions: /universes/,
  tokens: /tokens/,
  instruments: /market-data|ingestion|report|series/,
  ingestion_runs: /ingestion/,
  ingestion_events: /ingestion/,
  candle_chunks: /market-data|ingestion|report|series/,
};

const AT_ONCE = 12;
const BYTES = "'\\x28b52ffd00'::bytea";

/** Values that a newer build may write, each an assignment to columns of a table's rows. Status, metric, method, kind and layout are new. */
const WRITES: readonly (readonly [table: string, assignment: string, where?: string])[] = [
  ["backtests", "status = 'paused'"],
  ["backtests", `result = '{"version": 9}'`, "result is not null"],
  ["backtests", `result = jsonb_set(result, '{metrics}', '{"sortino_2": 1}')`, "result is not null"],
  ["backtests", `result = jsonb_set(result, '{integrity}', '{"leaks": {"status": "unsure"}}')`, "result is not null"],
  ["backtests", `parameters = '["timeframe", "1h"]'`],
  ["backtests", `error = '{"kind": 7}', status = 'failed'`],
  ["backtests", `inputs = '{"version": 2}'`, "inputs is not null"],
  ["backtests", `plots = '[{"kind": "surface"}]'`, "plots is not null"],
  ["backtests", `runtime = '{"type": "gpu"}'`],
  ["result_chunks", `data = ${BYTES}`],
  ["result_chunks", `tags = ${BYTES}`],
  ["result_candles", `data = ${BYTES}`],
  ["optimizations", "status = 'paused'"],
  ["optimizations", "method = 'bayes'"],
  ["optimizations", "objective = 'sortino_2'"],
  ["optimizations", "direction = 'target'"],
  ["optimizations", `space = '{"axes": [{"name": "fast", "kind": "log"}]}'`],
  ["optimizations", `space = '{"tree": []}'`],
  ["optimizations", `best = '[{"trial": 1}]'`],
  ["optimizations", `walk_forward = '{"version": 2}'`],
  ["optimizations", `windows = '[{"version": 2}]'`],
  ["optimizations", `overfitting = '{"version": 2}'`],
  ["optimizations", `luck = '{"version": 2}'`],
  ["optimizations", `out_of_sample = '{"version": 2}'`],
  ["optimizations", `scan = '{"version": 2}'`, "scan is not null"],
  ["optimizations", `tested_paths = '{"version": 2}'`],
  ["scan_markets", `days = '{"version": 2}'`],
  ["optimizations", `parameters = '[1]'`],
  ["trial_chunks", `data = ${BYTES}`],
  ["trial_chunks", `notes = '{"version": 2}'`],
  ["trial_chunks", `returns = ${BYTES}`],
  ["monte_carlos", "status = 'paused'"],
  ["monte_carlos", "method = 'quantum'"],
  ["monte_carlos", `result = '{"paths": []}'`],
  ["optimization_series", `data = ${BYTES}`],
  ["monte_carlo_series", `data = ${BYTES}`],
  ["stress_tests", "status = 'paused'"],
  ["stress_tests", `result = '{"tables": []}'`],
  ["strategies", "runtime_type = 'gpu'"],
  ["strategies", `default_config = '[1]', parameter_schema = '[2]'`],
  ["strategy_versions", `runtime_config = '["gpu"]'`],
  ["universe_versions", `members = '{"rule": "largest"}'`],
  ["universe_versions", `members = '[{"isin": "US0378331005"}]'`],
  ["tokens", "scope = 'owner'"],
  ["instruments", "provider = 'provider_z'"],
  ["instruments", "asset_class = 'bond'"],
  ["instruments", `session = '{"version": 2}'`],
  ["instruments", `timeframe = '7d', schedule = 'often'`],
  ["ingestion_runs", "status = 'paused'"],
  ["ingestion_runs", "trigger = 'moon'"],
  ["ingestion_runs", `instruments = '{"all": true}'`],
  ["ingestion_events", "type = 'healed'"],
  ["candle_chunks", `data = ${BYTES}, sha256 = encode(sha256(${BYTES}), 'hex')`],
];

Deno.test("a record of a newer build is a 503 with the reason, and lists show the others", async () => {
  const [service] = await Promise.all([startTestService(), prepare("console")]);
  const user = await service.user();
  const paths = [...pathsOf(await makeRecords(user))];
  const sql = postgres(service.databaseUrl, { max: 1, fetch_types: false, onnotice() {} });
  const isUsual = ({ outcome }: { outcome: string }) => outcome === "200";
  expect((await readAll(user, paths)).filter((answer) => !isUsual(answer))).toEqual([]);
  const odd: Record<string, unknown> = {};
  for (const [table, assignment, where = "true"] of WRITES) {
    await sql.unsafe(`create table kept as select * from ${table}`);
    const { count } = await sql.unsafe(`update ${table} set ${assignment} where ${where}`);
    const answers = await readAll(user, paths.filter((path) => SHOWN[table]!.test(path)));
    await restore(sql, table);
    const wrong = answers.filter(({ outcome }) => outcome !== "200" && outcome !== "503 RECORD_UNREADABLE");
    if (count === 0 || wrong.length > 0) odd[`${count} ${table}: ${assignment}`] = wrong;
  }
  expect(odd).toEqual({});
  await sql.end();
  await service.close();
});

async function restore(sql: postgres.Sql, table: string): Promise<void> {
  const columns = await sql.unsafe(
    `select column_name as name from information_schema.columns
      where table_name = '${table}' and is_generated = 'NEVER'`,
  );
  const keys = await sql.unsafe(
    `select a.attname as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
      where i.indrelid = '${table}'::regclass and i.indisprimary`,
  );
  const set = columns.map(({ name }) => `"${name}" = kept."${name}"`).join(", ");
  const on = keys.map(({ name }) => `${table}."${name}" = kept."${name}"`).join(" and ");
  await sql.unsafe(`update ${table} set ${set} from kept where ${on}`);
  await sql.unsafe("drop table kept");
}

interface Names {
  readonly backtest: string;
  readonly other: string;
  readonly optimization: string;
  readonly scan: string;
  readonly simulation: string;
  readonly stress: string;
  /** Tokens of links to the run, both compared and the optimization. */
  readonly links: readonly string[];
  /** The query of a program that asks to be signed in. */
  readonly program: string;
  readonly run: string;
}

async function makeRecords(user: TestClient): Promise<Names> {
  const post = async (path: string, body: unknown) => {
    const answer = await user.send("POST", path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  await post("/api/strategies", {
    strategy: {
      slug: "my-script",
      name: "Mine",
      runtime_type: "script",
      language: "typescript",
      initial_version: { version: "1.0.0", runtime_config: { type: "script", source: SCRIPT } },
    },
  });
  const submit = async (more: object) => {
    const made = await post("/api/backtests", { backtest: { ...BACKTEST, ...more } });
    const id = String(made.at("/backtest/id"));
    expect((await user.finish(id)).at("/backtest/status")).toBe("completed");
    return id;
  };
  const backtest = await submit({});
  const other = await submit({
    strategy: "my-script",
    parameters: { timeframe: "1h", runtime: { slug: "my-script", type: "script" } },
  });
  const optimization = await submitOptimization(user, {
    walk_forward: { train_days: 10, test_days: 5 },
  });
  expect((await finishOptimization(user, optimization)).at("/optimization/status")).toBe("completed");
  const instruments = ["DEMO", "STOCK"].map((symbol) => ({ symbol, exchange: "SAMPLE" }));
  const scan = await submitOptimization(user, { markets: { instruments } });
  expect((await finishOptimization(user, scan)).at("/optimization/status")).toBe("completed");
  const made = await post("/api/monte-carlo", { monte_carlo: { backtest_id: backtest, method: "returns", runs: 20 } });
  const simulation = String(made.at("/monte_carlo/id"));
  await user.poll(`/api/monte-carlo/${simulation}`, "/monte_carlo/status");
  const stressed = await post(`/api/backtests/${backtest}/stress`, {});
  const stress = String(stressed.at("/stress_test/id"));
  await user.poll(`/api/stress-tests/${stress}`, "/stress_test/status");
  const members = [{ symbol: "DEMO", exchange: "SAMPLE" }];
  await post("/api/universes", { universe: { slug: "my-universe", members } });
  await post("/api/tokens", { token: { name: "one", scope: "read" } });
  const admin = { "x-ingestion-admin-secret": INGESTION_SECRET };
  const csv = "date,open,high,low,close,volume\n2024-01-02,1,2,1,2,5\n2024-01-03,2,3,2,3,5\n";
  const imported = await user.send(
    "POST",
    "/api/admin/ingestion/import?symbol=X&exchange=Y&assetClass=stock&timeframe=1d",
    csv,
    { ...admin, "content-type": "text/csv" },
  );
  const shown = [{ backtest_id: backtest }, { backtest_ids: [backtest, other] }, { optimization_id: optimization }];
  const links: string[] = [];
  for (const share of shown) links.push(String((await post("/api/shares", { share })).at("/token")));
  const program = await requestOfProgram(user.url);
  const rest = { links, program, run: String(imported.at("/run/id")) };
  return { backtest, other, optimization, scan, simulation, stress, ...rest };
}

async function requestOfProgram(url: string): Promise<string> {
  const redirectUri = "http://127.0.0.1:1/answer";
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ client_name: "a program", redirect_uris: [redirectUri] });
  const { client_id } = await (await fetch(`${url}/oauth/register`, { method: "POST", headers, body })).json();
  return new URLSearchParams({
    ...{ client_id: String(client_id), redirect_uri: redirectUri, response_type: "code" },
    ...{ code_challenge: "A".repeat(43), code_challenge_method: "S256" },
  }).toString();
}

/** Every GET of REST, with the formats of its tables. */
function* pathsOf(names: Names): Generator<string> {
  const { backtest, other, optimization, scan, simulation, stress, links, program, run } = names;
  const ids: readonly (readonly [prefix: string, ids: readonly string[]])[] = [
    ["/api/backtests/:id", [backtest, other]],
    ["/api/optimizations/:id/ranking", [scan]],
    ["/api/optimizations/:id", [optimization, scan]],
    ["/api/monte-carlo/:id", [simulation]],
    ["/api/stress-tests/:id", [stress]],
    ["/api/admin/ingestion/runs/:id", [run]],
    ["/api/strategies/:slug", ["my-script"]],
    ["/api/universes/:slug", ["my-universe"]],
    ["/api/shared/:token/trials", links.slice(2)],
    ["/api/shared/:token/", links.slice(0, 1)],
    ["/api/shared/:token", links],
  ];
  const queries: Readonly<Record<string, readonly string[]>> = {
    "/api/market-data/ticks": ["?symbol=DEMO&timeframe=1h&startDate=2024-01-01&endDate=2024-01-08&limit=10"],
    "/api/market-data/gaps": ["?symbol=DEMO&exchange=SAMPLE&timeframe=1h"],
    "/api/backtests": ["", "?view=summary", "?sort=sharpe&limit=1"],
    "/api/backtests/compare": [`?ids=${backtest},${other}`],
    "/api/backtests/:id/differences": [`?other=${other}`],
    "/api/backtests/:id/report": ["", "?format=html"],
    "/api/backtests/:id/trades": ["", "?format=csv", "?limit=2"],
    "/api/optimizations/:id/trials": ["", "?format=csv", "?sort=sharpe&limit=3", "?limit=2"],
    "/api/optimizations/:id/surface": ["?x=fast&y=slow"],
    "/api/strategies": ["", "?view=summary"],
    "/api/agents/request": [`?${new URLSearchParams({ request: program })}`],
  };
  for (const { method, path, access } of ROUTES) {
    // Invitations have no value that a newer build could add.
    if (method !== "GET" || access === "admin") continue;
    const [prefix, keys] = ids.find(([prefix]) => path.startsWith(prefix)) ?? ["", [""]];
    for (const key of keys) {
      const filled = path.replace(prefix, prefix.replace(/:\w+/, key)).replace(":version", "1.0.0");
      for (const query of queries[path] ?? [""]) yield `${filled}${query}`;
    }
  }
}

async function readAll(user: TestClient, paths: readonly string[]) {
  const admin = { "x-ingestion-admin-secret": INGESTION_SECRET };
  const read = async (path: string) => {
    try {
      const answer = await user.get(path, admin);
      return { path, outcome: answer.status === 200 ? "200" : `${answer.status} ${answer.at("/error/code")}` };
    } catch (error) {
      // An answer that its description does not allow, or one that broke off.
      return { path, outcome: String(error).slice(0, 300) };
    }
  };
  const answers: Awaited<ReturnType<typeof read>>[] = [];
  // A user may read few long answers at once.
  for (let from = 0; from < paths.length; from += AT_ONCE) {
    answers.push(...await Promise.all(paths.slice(from, from + AT_ONCE).map(read)));
  }
  return answers;
}
