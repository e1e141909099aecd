/** The words of the API's description: one entry for each row of ROUTES. */
import { z } from "zod";
import { logSchema } from "../../routers/backtests/backtest_log.ts";
import {
  backtestSchema,
  equityPointSchema,
  orderSchema,
  returnSchema,
  summarySchema,
  tradeSchema,
} from "../../routers/backtests/backtest_records.ts";
import { monteCarloSchema } from "../../routers/monte_carlo/monte_carlo_records.ts";
import { plotPointSchema, plotSchema } from "../../routers/backtests/plot_series.ts";
import { ticksAnswerSchema } from "../../routers/market_data/market_data.ts";
import { entrySchema, entrySummarySchema } from "../../routers/strategies/strategy_entry.ts";
import {
  KEYED,
  listOf,
  LOCATION,
  NEXT_CURSOR,
  NO_CANDLES,
  type Operation,
  REGISTRATION,
  SUBMISSION,
  TABLE_MEDIA,
} from "./operation.ts";
import { OPTIMIZATION_OPERATIONS } from "./optimization_operations.ts";
import { UNIVERSE_OPERATIONS } from "./universe_operations.ts";

const NO_BACKTEST = ["BACKTEST_NOT_FOUND"] as const;
const NO_MONTE_CARLO = ["MONTE_CARLO_NOT_FOUND"] as const;
const NO_STRATEGY = ["STRATEGY_NOT_FOUND"] as const;
const NO_RESULT = [...NO_BACKTEST, "RANGE_TOO_LARGE"] as const;
const PROVIDERS = ["PROVIDER_RATE_LIMITED", "PROVIDER_FAILED"] as const;
const BACKTEST = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  strategy: "SMA Cross",
  start_date: "2024-01-01",
  end_date: "2024-02-01",
  initial_balance: 10_000,
  parameters: { timeframe: "1h", fast: 24, slow: 96, execution: { commission: 0.0005 } },
};
const REMOTE = { type: "remote", language: "python", endpoint: "https://example.com/signal", timeoutMs: 5000 };
const STRATEGY = {
  slug: "my-remote-strategy",
  name: "My remote strategy",
  runtime_type: "remote",
  language: "python",
  default_frequency: "DAILY",
  parameter_schema: { type: "object", properties: { window: { type: "integer", default: 20 } } },
  initial_version: { version: "1.0.0", runtime_config: REMOTE },
};

/** By procedure. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  "health.get": {
    summary: "The state of the service",
    description: "503 where a part does not work: `checks` names it.",
  },
  "health.serving": {
    summary: "Whether the process takes requests",
    description: "503 from SIGTERM on. It says nothing about the database.",
  },
  "session.get": { summary: "The caller's user and session" },
  "tokens.list": { summary: "The caller's tokens" },
  "tokens.create": {
    summary: "Make a token for a program",
    description: "`secret` is the text to send as `Authorization: Bearer`. It is shown in this answer alone.",
    codes: ["QUOTA_EXCEEDED"],
    example: { token: { name: "nightly runs", scope: "run", expires_in_days: 30 } },
  },
  "tokens.revoke": { summary: "Revoke a token", codes: ["TOKEN_NOT_FOUND"] },
  "marketDataStreams.ticks": {
    summary: "Candles of a symbol",
    description:
      "Complete without `limit`. The range is half-open. Candles that are not held are fetched from a provider.",
    codes: [...NO_CANDLES, ...PROVIDERS, "TIMEFRAME_TOO_FINE"],
    // Only a page has a cursor.
    output: ticksAnswerSchema.partial({ next_cursor: true }),
    media: TABLE_MEDIA,
    headers: { ETag: "Changes with the candles.", ...NEXT_CURSOR },
  },
  "marketData.instruments": { summary: "The instruments that are held" },
  "marketData.gaps": {
    summary: "The gaps of what is held",
    description: "Stretches without candles between the stored ones of a timeframe, where trade was to be expected.",
    codes: ["SYMBOL_NOT_FOUND"],
  },
  "backtestsStreams.list": {
    summary: "The caller's backtests",
    description: "Newest first, complete without `limit`. `view=summary` leaves out what makes an entry large.",
    codes: ["INVALID_DATE_RANGE"],
    output: listOf("backtests", z.union([backtestSchema, summarySchema])),
  },
  "backtests.create": {
    summary: "Submit a backtest",
    description: "It is checked now and runs later: follow it with `wait`, `/events` or by polling.",
    codes: SUBMISSION,
    example: { backtest: BACKTEST },
    headers: LOCATION,
    requestHeaders: KEYED,
  },
  "backtests.compare": {
    summary: "Two to five completed backtests side by side",
    description: "`ids` are separated by commas.",
    codes: NO_RESULT,
  },
  "backtests.get": {
    summary: "A backtest",
    description: "With `wait`, the answer comes when it has ended, or after so many seconds.",
    codes: NO_BACKTEST,
    headers: { ETag: "Send it as If-None-Match: 304 where nothing changed." },
  },
  "backtests.update": {
    summary: "Change a backtest's name, tags, notes or star",
    codes: [...NO_BACKTEST, "QUOTA_EXCEEDED"],
    example: { backtest: { name: "First try", tags: ["trend"], star: true } },
  },
  "backtests.delete": { summary: "Delete a backtest with its results", codes: NO_BACKTEST },
  "backtestsStreams.events": {
    summary: "Follow a backtest",
    description: "Server-sent events `status`, `progress` and `end`, each with the record as JSON.",
    codes: NO_BACKTEST,
    output: null,
    media: ["text/event-stream"],
  },
  "backtests.report": {
    summary: "A completed backtest as one HTML file",
    description: "The console's own view. It loads nothing, so it can be kept, printed and sent.",
    codes: [...NO_RESULT, "NOT_COMPLETED"],
    output: null,
    media: ["text/html"],
    headers: { ETag: "A hash of the file." },
  },
  "backtests.verify": {
    summary: "Run a backtest again",
    description: "Submits the settings of a completed record as a new backtest. Then ask for the `differences`.",
    codes: [...SUBMISSION, ...NO_BACKTEST, "NOT_COMPLETED"],
    headers: LOCATION,
  },
  "backtests.differences": {
    summary: "Whether two results are equal",
    description: "`difference` is the first one: of the metrics, then of the trades, then of the orders.",
    codes: [...NO_BACKTEST, "NOT_COMPLETED"],
  },
  "backtests.cancel": { summary: "Cancel a backtest", codes: [...NO_BACKTEST, "NOT_CANCELLABLE"] },
  "backtests.log": {
    summary: "The log of a backtest",
    description: "Lines that the strategy logged, and the stack of the error that ended it.",
    codes: NO_BACKTEST,
    output: logSchema,
  },
  "backtestsStreams.orders": {
    summary: "The orders of a backtest",
    description: "In order of placement, complete without `limit`.",
    codes: NO_BACKTEST,
    output: listOf("orders", orderSchema),
    media: TABLE_MEDIA,
    headers: NEXT_CURSOR,
  },
  "backtestsStreams.trades": {
    summary: "The trades of a backtest",
    description: "Oldest first, complete without `limit`.",
    codes: NO_BACKTEST,
    output: listOf("trades", tradeSchema),
    media: TABLE_MEDIA,
    headers: NEXT_CURSOR,
  },
  "backtestsStreams.equity": {
    summary: "The equity curve of a backtest",
    description:
      "Thinned to about `points` with the extremes kept; CSV and Arrow have every candle, as have pages of `limit`.",
    codes: [...NO_RESULT, "INVALID_DATE_RANGE"],
    // Only a page has a cursor.
    output: listOf("equity", equityPointSchema).partial({ next_cursor: true }),
    media: TABLE_MEDIA,
    headers: NEXT_CURSOR,
  },
  "backtestsStreams.series": {
    summary: "The series that the strategy of a backtest plotted",
    description: "JSON is a page of candles, 500 without `limit`; CSV and Arrow have every candle without it.",
    codes: [...NO_RESULT, "INVALID_DATE_RANGE"],
    output: listOf("series", plotPointSchema).extend({ plots: z.array(plotSchema) }),
    media: TABLE_MEDIA,
    headers: NEXT_CURSOR,
  },
  "backtestsStreams.returns": {
    summary: "The returns of a backtest by day, month or year",
    codes: NO_RESULT,
    output: z.object({ returns: z.array(returnSchema) }),
    media: TABLE_MEDIA,
  },
  ...OPTIMIZATION_OPERATIONS,
  ...UNIVERSE_OPERATIONS,
  "monteCarloStreams.list": {
    summary: "The caller's Monte Carlo simulations",
    description: "Newest first, complete without `limit`; with `backtest_id`, only those of one backtest.",
    output: listOf("monte_carlos", monteCarloSchema),
  },
  "monteCarlo.create": {
    summary: "Simulate paths that a completed backtest might have taken",
    description: "It is checked now and runs later: follow it with `wait`, `/events` or by polling.",
    codes: [...NO_BACKTEST, "NOT_COMPLETED", "QUOTA_EXCEEDED", "IDEMPOTENCY_CONFLICT"],
    headers: LOCATION,
    requestHeaders: KEYED,
  },
  "monteCarlo.get": {
    summary: "A Monte Carlo simulation",
    description: "With `wait`, the answer comes when it has ended, or after so many seconds.",
    codes: NO_MONTE_CARLO,
    headers: { ETag: "Send it as If-None-Match: 304 where nothing changed." },
  },
  "monteCarlo.delete": { summary: "Delete a Monte Carlo simulation", codes: NO_MONTE_CARLO },
  "monteCarloStreams.events": {
    summary: "Follow a Monte Carlo simulation",
    description:
      "Server-sent events `status`, `progress` and `end`, each with the record as JSON; at most four a second.",
    codes: NO_MONTE_CARLO,
    output: null,
    media: ["text/event-stream"],
  },
  "monteCarlo.cancel": { summary: "Cancel a Monte Carlo simulation", codes: [...NO_MONTE_CARLO, "NOT_CANCELLABLE"] },
  "strategiesStreams.list": {
    summary: "The catalogue of strategies",
    description: "Built-in ones, your own and public ones. Complete without `limit`.",
    output: listOf("strategies", z.union([entrySchema, entrySummarySchema])),
  },
  "strategies.create": {
    summary: "Register a strategy",
    description: "A WASM module is checked first; where no worker answers in time, 503 and nothing is stored.",
    codes: [...REGISTRATION, "SLUG_TAKEN"],
    example: { strategy: STRATEGY },
    headers: LOCATION,
  },
  "strategies.get": { summary: "A strategy", codes: NO_STRATEGY },
  "strategies.update": {
    summary: "Change a strategy",
    codes: [...NO_STRATEGY, "INVALID_PARAMETERS", "QUOTA_EXCEEDED"],
    example: { strategy: { description: "Buys what rises." } },
  },
  "strategies.delete": { summary: "Delete a strategy", codes: [...NO_STRATEGY, "STRATEGY_IN_USE"] },
  "strategies.versions": { summary: "The versions of a strategy", codes: NO_STRATEGY },
  "strategies.addVersion": {
    summary: "Add a version to a strategy",
    codes: [...NO_STRATEGY, ...REGISTRATION, "VERSION_EXISTS"],
    example: { version: { version: "1.1.0", runtime_config: { ...REMOTE, timeoutMs: 8000 } } },
  },
  "strategiesStreams.artifact": {
    summary: "The module or the script of a version, for its owner",
    codes: NO_STRATEGY,
    output: null,
    media: ["application/wasm", "text/plain"],
    headers: { ETag: "The hash of the file." },
  },
  "ingestion.events": { summary: "Events of ingestion" },
  "ingestion.runs": { summary: "Runs of ingestion" },
  "ingestion.run": { summary: "A run of ingestion", codes: ["RUN_NOT_FOUND"] },
  "ingestion.status": { summary: "The state of ingestion" },
  "ingestion.instruments": { summary: "The instruments that are kept up to date" },
  "ingestion.addInstrument": {
    summary: "Add an instrument",
    codes: ["INSTRUMENT_EXISTS", "INVALID_DATE_RANGE", "FUTURE_DATE_RANGE"],
    example: { instrument: { symbol: "BTCUSDT", exchange: "BINANCE", assetClass: "crypto", provider: "import" } },
  },
  "ingestion.updateInstrument": {
    summary: "Change an instrument",
    codes: ["INSTRUMENT_NOT_FOUND", "INVALID_DATE_RANGE", "FUTURE_DATE_RANGE"],
    example: { instrument: { schedule: null } },
  },
  "ingestion.deleteInstrument": { summary: "Delete an instrument with its candles", codes: ["INSTRUMENT_NOT_FOUND"] },
  "ingestion.runOnce": {
    summary: "Start a run of ingestion",
    codes: ["INVALID_DATE_RANGE", "FUTURE_DATE_RANGE", "INSTRUMENT_NOT_FOUND", "SYMBOL_NOT_FOUND"],
    example: {},
  },
  "ingestionStreams.import": {
    summary: "Import candles from a file",
    description: "The body is the file. Good lines are kept; the first 100 rejected ones are named.",
  },
};
