/** The words of the API's description: one entry for each row of ROUTES. */
import { z } from "zod";
import { logSchema } from "../../routers/backtests/backtest_log.ts";
import {
  backtestSchema,
  equityPointSchema,
  orderSchema,
  plotSchema,
  returnSchema,
  summarySchema,
  tradeSchema,
} from "../../routers/backtests/backtest_records.ts";
import { holdingSchema } from "../../routers/backtests/holdings.ts";
import { curvePointSchema, pathSchema } from "../../routers/monte_carlo/monte_carlo_paths.ts";
import { monteCarloSchema } from "../../routers/monte_carlo/monte_carlo_records.ts";
import { plotPointSchema } from "../../routers/backtests/plot_series.ts";
import { ticksAnswerSchema } from "../../routers/market_data/market_data.ts";
import { entrySchema, entrySummarySchema } from "../../routers/strategies/strategy_entry.ts";
import {
  AWAITED,
  KEYED,
  listOf,
  LOCATION,
  NEXT_CURSOR,
  NO_CANDLES,
  type Operation,
  RECORD_EVENTS,
  REGISTRATION,
  SUBMISSION,
  TABLE_MEDIA,
} from "./operation.ts";
import { OPTIMIZATION_OPERATIONS } from "./optimization_operations.ts";
import { SHARE_OPERATIONS } from "./share_operations.ts";
import { STRESS_TEST_OPERATIONS } from "./stress_test_operations.ts";
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
    description: "200, and within two seconds of a fault 503: `checks` names the part.",
  },
  "session.get": {
    summary: "The caller's user and session",
    description:
      "A session lasts seven days. A request that uses it a day or more after its start or its last renewal gives it seven days again, and the answer sets the cookie anew.",
  },
  "tokens.list": {
    summary: "The caller's tokens",
    description: "Newest first. Expired ones stay in the list for 30 days.",
  },
  "health.ready": {
    summary: "Whether the process can do all of its work",
    description:
      "503 with `reasons` when the database cannot be written, its disk is full, migrations are missing, or no process has taken backtests for a minute; and from SIGTERM on. For those who watch a service: a load balancer asks `/api/health/serving`.",
  },
  "health.live": {
    summary: "Whether the process answers",
    description: "It asks nothing else, and is 200 until the process ends.",
  },
  "healthStreams.events": {
    summary: "Try whether events pass a proxy",
    description:
      "Two server-sent events `beat`, the second one `pause_ms` after the first: if both arrive at once, something on the way holds events back. All clients together get eight of these streams in two seconds.",
    output: null,
    media: ["text/event-stream"],
  },
  "health.serving": {
    summary: "Whether the process takes requests",
    description: "503 from SIGTERM on. It says nothing about the database.",
  },
  "tokens.create": {
    summary: "Make a token for a program",
    description:
      "`secret` is the text to send as `Authorization: Bearer`. It is shown in this answer alone. A token acts for its user: their records, quotas and rate limits are its own. It makes no tokens and changes no account.",
    codes: ["QUOTA_EXCEEDED"],
    example: { token: { name: "nightly runs", scope: "run", expires_in_days: 30 } },
  },
  "tokens.revoke": {
    summary: "Revoke a token",
    description: "Its next request is refused.",
    codes: ["TOKEN_NOT_FOUND"],
  },
  "invitations.list": {
    summary: "The invitations that can be used",
    description: "Newest first. Only admins.",
  },
  "invitations.create": {
    summary: "Invite somebody to sign up",
    description:
      "With `SIGN_UP=invite`. `url` is the link to send, and is shown in this answer alone; what follows `#` is the `invitation` of a sign-up, and counts once. With an `email`, only this address signs up with it, and gets a mail where the service sends mails. Only admins.",
    codes: ["FORBIDDEN", "QUOTA_EXCEEDED"],
  },
  "invitations.revoke": {
    summary: "Revoke an invitation",
    description: "Nobody signs up with it any more. Only admins.",
    codes: ["INVITATION_NOT_FOUND"],
  },
  "users.quotas": {
    summary: "A user's limits, and what they use of them",
    description: "Only admins. `GET /api/auth/admin/list-users` finds the id by the e-mail address.",
    codes: ["USER_NOT_FOUND"],
  },
  "users.changeQuotas": {
    summary: "Give a user limits of their own",
    description:
      "They take the place of the service's settings, from the user's next request on, and for runs that begin later. Null gives the service's back; an absent limit stays. What the user keeps already is kept. Only admins.",
    codes: ["USER_NOT_FOUND"],
    example: { quotas: { backtests_max: 100, result_bytes_max: null } },
  },
  "agents.find": {
    summary: "The program that asks in a browser to act for the caller",
    description: "For the page of consent. `/.well-known/oauth-authorization-server` has the addresses for programs.",
    codes: ["VALIDATION_FAILED"],
  },
  "agents.answer": {
    summary: "Let the program act for the caller, or refuse it",
    description:
      "`redirect_to` tells the program, with a code that it exchanges within two minutes for a token of this scope. Another answer of the caller's takes its place.",
    codes: ["VALIDATION_FAILED", "QUOTA_EXCEEDED"],
  },
  "endpoints.next": {
    summary: "Answer a request of a run, and fetch the next",
    description:
      "For programs on an author's machine that decide for the endpoint `serve:NAME`, with a token of the scope `serve`. Waits until a run asks, at most `wait` seconds; `request` is null then. The first answer to a request counts. A request without an answer within `timeout_ms` is delivered once more.",
    example: { wait: 0 },
  },
  "marketDataStreams.ticks": {
    summary: "Candles of a symbol",
    description:
      "Complete without `limit`, oldest first. The range is half-open: a candle is served if its open lies in it and its close is past. Finer candles are added up to any coarser timeframe. What a provider serves is kept: the second request does not ask it again, and nothing is fetched over an imported instrument's candles. A symbol that nobody has is 404 with the nearest one and the exchanges that feeds serve. A provider without its key is 503 and names the variable. A stored chunk that is damaged is fetched again in the middle of the answer; if that fails, the answer breaks off. Damaged candles of an imported file are 503.",
    codes: [...NO_CANDLES, ...PROVIDERS, "TIMEFRAME_TOO_FINE"],
    // Only a page has a cursor.
    output: ticksAnswerSchema.partial({ next_cursor: true }),
    media: TABLE_MEDIA,
    headers: { ETag: "Changes with the candles.", ...NEXT_CURSOR },
  },
  "marketData.instruments": { summary: "The instruments that are held" },
  "marketData.gaps": {
    summary: "The gaps of what is held",
    description:
      "Stretches without candles between the stored ones of a timeframe, where trade was to be expected: for crypto all the time; for forex not the weekend, Christmas, New Year's Day, or less than an hour; for stocks a whole session that is no holiday in New York. Damaged candles count as missing. A call reads some 200,000 candles; `next_cursor` goes on.",
    codes: ["SYMBOL_NOT_FOUND"],
  },
  "backtestsStreams.list": {
    summary: "The caller's backtests",
    description:
      "Newest first, complete without `limit`. `view=summary` leaves out `parameters`, `notes` and `result`, in exchange for `timeframe`, `metrics`, `sparkline` and `failed_checks`.",
    codes: ["INVALID_DATE_RANGE"],
    output: listOf("backtests", z.union([backtestSchema, summarySchema])),
  },
  "backtests.create": {
    summary: "Submit a backtest",
    description:
      "Everything is checked now, and it runs later: follow it with `wait`, `/events` or by polling. The record and its job are written in one transaction, so what was answered 202 is not lost. Candles that are not held are fetched before the run. If you have a completed backtest of equal inputs (the same code, parameters, rules, dates, balance and candles, by the same simulator), the record gets its result without a simulation: `reused_from` is its id. A result whose candles were revised is never reused, nor that of another user, of an endpoint, or of code that decides differently each time.",
    codes: SUBMISSION,
    example: { backtest: BACKTEST },
    headers: LOCATION,
    requestHeaders: KEYED,
  },
  "backtests.compare": {
    summary: "Two to five completed backtests side by side",
    description: "Every list of values is in the order of `ids`.",
    codes: NO_RESULT,
  },
  "backtests.get": {
    summary: "A backtest",
    codes: NO_BACKTEST,
    ...AWAITED,
  },
  "backtests.update": {
    summary: "Change a backtest's name, tags, notes or star",
    description:
      "In every status; labels that are absent stay. `null`, and a text of nothing but spaces, clears. No run reads them: a result and its `run_key` do not depend on them. Control characters (`notes` may have tabs and line breaks) and characters that change the direction of text are refused. Labels count for the storage of a user's results.",
    codes: [...NO_BACKTEST, "QUOTA_EXCEEDED"],
    example: { backtest: { name: "First try", tags: ["trend"], star: true } },
  },
  "backtests.delete": {
    summary: "Delete a backtest with its results",
    description: "It removes all that belongs to it, running or not.",
    codes: NO_BACKTEST,
  },
  "backtestsStreams.events": {
    summary: "Follow a backtest",
    description:
      'Server-sent events `status`, `progress` and `end`, each with `{"backtest": ...}` as its data. `Last-Event-ID` resumes. A comment comes every 15 s.',
    codes: NO_BACKTEST,
    output: null,
    media: ["text/event-stream"],
  },
  "backtests.report": {
    summary: "A completed backtest as one HTML file",
    description:
      "The console's own view, to keep, print or send: charts of about 1,000 points, monthly and yearly returns, metrics with their definitions, the first 5,000 trades and the assumptions. It leaves out your notes and tags and where foreign code is. It loads nothing, has a strict Content-Security-Policy of its own, and is at most about 3 MB. 503 says that the console is not built.",
    codes: [...NO_RESULT, "NOT_COMPLETED"],
    output: null,
    media: ["text/html"],
    headers: { ETag: "A hash of the file." },
  },
  "backtests.verify": {
    summary: "Run a backtest again",
    description:
      "Submits the settings of a completed record as a new backtest, with the version of the strategy that it ran; where that was deleted, or registered anew since, it is 400 `UNKNOWN_STRATEGY`. It always simulates. Then ask for the `differences`.",
    codes: [...SUBMISSION, ...NO_BACKTEST, "NOT_COMPLETED"],
    headers: LOCATION,
  },
  "backtests.differences": {
    summary: "Whether two results are equal",
    description:
      "Of any two of your completed backtests. `difference` is the first one: of the metrics, then of the trades, then of the orders.",
    codes: [...NO_BACKTEST, "NOT_COMPLETED"],
  },
  "backtests.cancel": {
    summary: "Cancel a backtest",
    description: "Stops a queued one at once and a running one within two seconds.",
    codes: [...NO_BACKTEST, "NOT_CANCELLABLE"],
  },
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
  "backtestsStreams.holdings": {
    summary: "The holdings of a backtest over many markets",
    description:
      "The weight of each market and its profit so far, at the moments of `result.portfolio.weights`: a row for each market with a position, and for each whose profit changed since the moment before. Empty for a run over one market, and until the backtest has completed.",
    codes: NO_BACKTEST,
    output: listOf("holdings", holdingSchema),
    media: TABLE_MEDIA,
  },
  "backtestsStreams.equity": {
    summary: "The equity curve of a backtest",
    description:
      "Thinned to about `points` with the extremes kept; CSV and Arrow have every candle, as have pages of `limit`. With `from` or `to`, only the candles from the first to before the second; their drawdowns still count from the highest equity of the run. Empty until the backtest has completed.",
    codes: [...NO_RESULT, "INVALID_DATE_RANGE"],
    // Only a page has a cursor.
    output: listOf("equity", equityPointSchema).partial({ next_cursor: true }),
    media: TABLE_MEDIA,
    headers: NEXT_CURSOR,
  },
  "backtestsStreams.series": {
    summary: "The series that the strategy of a backtest plotted or decided by",
    description:
      "Of failed runs, too, up to the last plotted value. A built-in strategy has the lines that it decided by, computed from today's candles. JSON is a page of candles, 500 without `limit`; CSV and Arrow have every candle without it, a column for each plot and its name; in Arrow, NaN is where nothing was plotted.",
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
  ...SHARE_OPERATIONS,
  ...UNIVERSE_OPERATIONS,
  ...STRESS_TEST_OPERATIONS,
  "monteCarloStreams.list": {
    summary: "The caller's Monte Carlo simulations",
    description: "Newest first, complete without `limit`; with `backtest_id`, only those of one backtest.",
    output: listOf("monte_carlos", monteCarloSchema),
  },
  "monteCarloStreams.paths": {
    summary: "The figures of a Monte Carlo simulation's paths",
    description:
      "All paths of each sample, in the order in which they were made: the quantiles, percentiles and probabilities of the result are those of these. None of one that has not completed, or from before there were any.",
    codes: NO_MONTE_CARLO,
    output: listOf("paths", pathSchema),
    media: TABLE_MEDIA,
  },
  "monteCarloStreams.curves": {
    summary: "The curves of a Monte Carlo simulation's paths",
    description: "The account of the first 1,000 paths of each sample, at the positions of the result's `curves`.",
    codes: NO_MONTE_CARLO,
    output: listOf("curves", curvePointSchema),
    media: TABLE_MEDIA,
  },
  "monteCarlo.create": {
    summary: "Simulate paths that a completed backtest might have taken",
    description:
      "It is checked now and runs later: follow it with `wait`, `/events` or by polling. A path may take ten times as long as the backtest took, and five seconds at least. If the strategy fails on the real candles or on every path, the simulation has failed; if all paths together take longer than `RUN_SECONDS_MAX`, too. Each path of an endpoint is a run with a `run_id` of its own. A worker process makes one simulation at a time, beside its backtests. Of a user, 20 may be queued or running, and a backtest may have 20. Its bytes count to `USER_RESULT_BYTES_MAX`. Deleting the backtest removes its simulations.",
    codes: [...NO_BACKTEST, "NOT_COMPLETED", "QUOTA_EXCEEDED", "IDEMPOTENCY_CONFLICT"],
    headers: LOCATION,
    requestHeaders: KEYED,
  },
  "monteCarlo.get": {
    summary: "A Monte Carlo simulation",
    codes: NO_MONTE_CARLO,
    ...AWAITED,
  },
  "monteCarlo.delete": { summary: "Delete a Monte Carlo simulation", codes: NO_MONTE_CARLO },
  "monteCarloStreams.events": {
    summary: "Follow a Monte Carlo simulation",
    codes: NO_MONTE_CARLO,
    ...RECORD_EVENTS,
  },
  "monteCarlo.cancel": {
    summary: "Cancel a Monte Carlo simulation",
    description: "Stops a queued one at once and a running one within a second.",
    codes: [...NO_MONTE_CARLO, "NOT_CANCELLABLE"],
  },
  "strategiesStreams.list": {
    summary: "The catalogue of strategies",
    description: "Built-in ones, your own and public ones. Complete without `limit`.",
    output: listOf("strategies", z.union([entrySchema, entrySummarySchema])),
  },
  "strategies.create": {
    summary: "Register a strategy",
    description:
      "A module or a script is checked by a worker before: 400 `INVALID_MODULE` or `INVALID_SCRIPT` says what is wrong, 503 that no worker answered within 15 s, or that the machine is too busy. Nothing is stored then.",
    codes: [...REGISTRATION, "SLUG_TAKEN"],
    example: { strategy: STRATEGY },
    headers: LOCATION,
  },
  "strategies.get": { summary: "A strategy", codes: NO_STRATEGY },
  "strategies.update": {
    summary: "Change a strategy",
    description: "Of your own. What another user made public, or what is built in, is 403; what you cannot see is 404.",
    codes: [...NO_STRATEGY, "INVALID_PARAMETERS", "QUOTA_EXCEEDED"],
    example: { strategy: { description: "Buys what rises." } },
  },
  "strategies.delete": {
    summary: "Delete a strategy",
    description:
      "409 while backtests or optimizations of it have not ended. The slug stays reserved for its owner while any of them names it. They keep the version with which they began.",
    codes: [...NO_STRATEGY, "STRATEGY_IN_USE"],
  },
  "strategies.versions": { summary: "The versions of a strategy", description: "Highest first.", codes: NO_STRATEGY },
  "strategies.addVersion": {
    summary: "Add a version to a strategy",
    description:
      "Its number must be higher than the latest, or absent: equal is 409 `VERSION_EXISTS`, lower 400. A registered version never changes, and older ones stay runnable.",
    codes: [...NO_STRATEGY, ...REGISTRATION, "VERSION_EXISTS"],
    example: { version: { version: "1.1.0", runtime_config: { ...REMOTE, timeoutMs: 8000 } } },
  },
  "strategiesStreams.artifact": {
    summary: "The module or the script of a version: your own, or an open one",
    codes: NO_STRATEGY,
    output: null,
    media: ["application/wasm", "text/plain"],
    headers: { ETag: "The hash of the file." },
  },
  "ingestion.events": {
    summary: "Events of ingestion",
    description: "What was stored, refused or corrected, newest first.",
  },
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
  "ingestion.deleteInstrument": {
    summary: "Delete an instrument with its candles",
    description: "With all its candles.",
    codes: ["INSTRUMENT_NOT_FOUND"],
  },
  "ingestion.runOnce": {
    summary: "Start a run of ingestion",
    description:
      "Fetches what is missing. A run that is already in flight for the same instruments is joined, not doubled.",
    codes: ["INVALID_DATE_RANGE", "FUTURE_DATE_RANGE", "INSTRUMENT_NOT_FOUND", "SYMBOL_NOT_FOUND"],
    example: {},
  },
  "ingestionStreams.import": {
    summary: "Import candles from a file",
    description:
      "The body is the file: of Yahoo, yfinance, Stooq, TradingView, Binance Vision, MetaTrader 4 and 5, Dukascopy, CryptoDataDownload, Polygon, Investing.com, Nasdaq.com, German spreadsheets, and others like them; UTF-8 or UTF-16, with or without a header, alone or packed with gzip or zip. Its bytes decide. Good lines are kept; the first 100 rejected ones are named. A file with two readings, such as `01/02/2024` in each line or prices such as `1,234` between semicolons, is 400: the message has both readings, and the issue's `path` is the parameter that decides. An error in the middle of a large file leaves the batches before it stored.",
  },
};
