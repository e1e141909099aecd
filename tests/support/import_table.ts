/** A folder or file, and what it may import of ours; the first row that fits a file counts. `types:` allows `import type` alone. */
export const IMPORTS: readonly (readonly [from: string, to: readonly string[]])[] = [
  ["engine/", ["engine/"]],
  ["research/", ["research/", "engine/"]],
  ["strategies/builtin/", ["strategies/builtin/", "engine/"]],
  ["strategies/examples/", ["strategies/examples/"]],
  // The parent's side of the sandbox: it starts the process, and no code of a user is in it.
  ["workers/sandbox/process.ts", ["workers/", "types:engine/"]],
  ["workers/checks/conformance.ts", ["workers/", "engine/"]],
  // Our own strategies run in it: it encodes their results.
  ["workers/sandbox/builtin_", [
    "workers/sandbox/",
    "engine/",
    "research/",
    "strategies/builtin/",
    "db/codec/",
    "workers/common/outcome.ts",
    "workers/common/protocol.ts",
    "workers/common/remote_task.ts",
  ]],
  ["workers/sandbox/", [
    "workers/sandbox/",
    "engine/",
    // Pure: code runs on paths where they are made.
    "research/monte_carlo/",
    "research/numbers/",
    "types:research/",
    "strategies/builtin/",
    "workers/common/outcome.ts",
    "workers/common/protocol.ts",
    "workers/common/remote_task.ts",
  ]],
  // Pure: the sandbox loads them beside its own code.
  ["workers/common/outcome.ts", ["types:db/codec/"]],
  ["workers/common/remote_task.ts", ["types:engine/", "types:workers/common/protocol.ts"]],
  ["workers/common/protocol.ts", ["types:engine/", "types:db/codec/", "types:research/"]],
  // Pure, but for the thread that it runs in: the rows of answers, from the bytes that are stored, and what takes a request long.
  ["workers/rows/", [
    "workers/rows/",
    "db/codec/",
    "engine/metrics/definitions.ts",
    "engine/buffer_pool.ts",
    "research/space.ts",
    "research/market_axis.ts",
    "research/independent_trials.ts",
  ]],
  ["workers/", ["workers/", "db/", "market/", "engine/", "research/", "strategies/builtin/"]],
  ["db/", ["db/", "engine/", "types:research/"]],
  ["market/", ["market/", "db/", "types:engine/"]],
  ["routers/", [
    "routers/",
    "db/",
    "market/",
    "engine/execution.ts",
    "engine/inputs.ts",
    "engine/order_columns.ts",
    "engine/portfolio/portfolio.ts",
    "engine/strategy.ts",
    "engine/version.ts",
    "engine/metrics/definitions.ts",
    // Pure: the returns of a stored curve.
    "engine/metrics/period_returns.ts",
    // Figures of long and of short trades are made when they are asked for, as a run's are when it ends.
    "engine/metrics/trade_metrics.ts",
    "engine/metrics/trade_tally.ts",
    "types:engine/",
    "research/",
    "strategies/builtin/",
    // Pure: the one rule on where a user's URL may lead.
    "workers/egress/rules.ts",
    "workers/rows/",
    // A request's steps are spans as a job's are.
    "workers/common/telemetry.ts",
    "deno.json",
  ]],
  ["server/requests/auth.ts", ["server/", "routers/", "db/"]],
  // A feed's variables stand in the feed's own file, and the policies of sign-up beside the procedure that names them.
  ["server/config.ts", ["server/", "market/feeds/registry.ts", "routers/common/sign_up.ts"]],
  // An agent reads the same pages as a person, and the meanings of codes that the reference has.
  ["server/agents/pages.ts", [
    "docs/",
    "routers/common/error_codes.ts",
    "server/openapi/field_words.ts",
    "strategies/SCRIPTS.md",
    "strategies/PYTHON.md",
    "strategies/scripts/strategy.d.ts",
  ]],
  ["server/", ["server/", "routers/", "workers/rows/"]],
  ["cli/admin.ts", ["cli/", "server/config.ts", "server/object_settings.ts", "db/"]],
  // It says what a registration would say, so it asks what a registration asks: the same check, in the same sandbox.
  ["cli/strategy_check.ts", [
    "cli/",
    "workers/checks/conformance.ts",
    "routers/strategies/parameters.ts",
    "types:workers/",
    "types:engine/",
  ]],
  ["cli/strategy_run.ts", [
    "cli/",
    "workers/sandbox/",
    "workers/checks/conformance.ts",
    "routers/runs/execution_request.ts",
    "routers/common/errors.ts",
    "types:workers/",
    "engine/",
  ]],
  ["cli/strategy_test.ts", [
    "cli/",
    "workers/sandbox/",
    "workers/checks/conformance.ts",
    "routers/runs/execution_request.ts",
    "types:workers/",
    "engine/",
  ]],
  ["cli/strategy_report.ts", ["cli/", "types:workers/", "engine/"]],
  ["cli/test_expectations.ts", ["cli/", "types:workers/", "engine/"]],
  // The demonstration calls the service as a typed frontend does.
  ["cli/demo_client.ts", ["types:routers/app.ts"]],
  ["cli/demo_portfolio.ts", ["cli/", "market/feeds/sample_stocks.ts"]],
  // Pure: the help lists the timeframes.
  ["cli/demo.ts", ["cli/", "market/timeframes.ts"]],
  // The command line speaks the public API through the typed client.
  ["cli/hindcast/", ["cli/", "client/index.ts", "engine/metrics/definitions.ts", "market/timeframes.ts", "deno.json"]],
  ["cli/exit_codes.ts", ["client/index.ts"]],
  ["cli/pack_command.ts", ["cli/", "deno.json"]],
  ["cli/pack_bundle.ts", ["cli/", "deno.json"]],
  ["cli/pack_database.ts", ["db/", "market/", "workers/jobs/"]],
  ["cli/guess_series.ts", ["cli/", "market/csv/"]],
  ["cli/local_candles.ts", ["cli/", "market/", "types:engine/"]],
  ["cli/service_candles.ts", ["cli/", "market/", "zod", "types:engine/"]],
  // Pure: the labels of metrics, as every other place shows them.
  ["cli/drawing.ts", ["cli/", "engine/metrics/definitions.ts"]],
  // Pure, each of them: it starts at once.
  ["cli/launch.ts", ["cli/commands.ts", "market/nearest_name.ts", "server/data_dir.ts"]],
  ["cli/", ["cli/", "server/config.ts"]],
  // The package holds the router's type itself, so that it needs no file of ours.
  ["client/index.ts", ["types:routers/app.ts"]],
  ["client/", ["client/", "deno.json"]],
  // A typed frontend, and nothing else of the service.
  ["web/src/", ["web/src/", "types:routers/app.ts"]],
  ["web/", ["web/"]],
  ["main.ts", ["*"]],
  ["tests/", ["*"]],
  ["bench/", ["*"]],
];
