import { z } from "zod";

// What the demonstration reads of the answers; everything else passes by.
const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const strategiesSchema = z.object({
  strategies: z.array(
    z.object({ slug: z.string(), name: z.string(), description: z.string(), runtime_type: z.string() }),
  ),
});
const backtestSchema = z.object({
  backtest: z.object({
    id: z.string(),
    status: z.enum(["queued", "running", "completed", "failed", "cancelled"]),
    progress: z.number(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    result: z.object({
      data: z.object({ candles: z.number() }),
      metrics: z.record(z.string(), z.union([z.number(), z.string(), z.null()])),
      duration_ms: z.number(),
    }).nullable(),
  }),
});
const tradesSchema = z.object({
  trades: z.array(z.object({
    number: z.number(),
    side: z.string(),
    quantity: z.number(),
    entry_time: z.string(),
    entry_price: z.number(),
    exit_time: z.string().nullable(),
    exit_price: z.number().nullable(),
    pnl: z.number(),
    exit_reason: z.string().nullable(),
  })),
  next_cursor: z.string().nullable(),
});
const equitySchema = z.object({ equity: z.array(z.object({ timestamp: z.string(), equity: z.number() })) });
const importSchema = z.object({
  imported: z.number(),
  rejected_count: z.number(),
  rejected: z.array(z.object({ line: z.number(), reason: z.string() })),
});
const instrumentsSchema = z.object({
  instruments: z.array(
    z.object({ symbol: z.string(), exchange: z.string(), first: z.string().nullable(), last: z.string().nullable() }),
  ),
});

export type Strategy = z.infer<typeof strategiesSchema>["strategies"][number];
export type Backtest = z.infer<typeof backtestSchema>["backtest"];
export type Trade = z.infer<typeof tradesSchema>["trades"][number];
export type EquityPoint = z.infer<typeof equitySchema>["equity"][number];

/** What a backtest is asked with; see POST /api/backtests. */
export interface BacktestRequest {
  readonly symbol: string;
  readonly exchange: string;
  readonly strategy: string;
  readonly start_date: string;
  readonly end_date: string;
  readonly initial_balance: number;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A trader's calls over the public REST API, with a session cookie and nothing else. */
export class ApiClient {
  readonly #baseUrl: string;
  #cookie = "";

  /** @param baseUrl Where the service listens, without a slash at the end. */
  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /** Signs a new user up and keeps the session's cookie. */
  async signUp(email: string, password: string): Promise<void> {
    const response = await this.#send("POST", "/api/auth/sign-up/email", { name: "Demo", email, password });
    await response.body?.cancel();
    this.#cookie = response.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
  }

  async listStrategies(): Promise<Strategy[]> {
    return strategiesSchema.parse(await this.#json("GET", "/api/strategies?limit=200")).strategies;
  }

  async submit(backtest: BacktestRequest): Promise<Backtest> {
    return backtestSchema.parse(await this.#json("POST", "/api/backtests", { backtest })).backtest;
  }

  async read(id: string): Promise<Backtest> {
    return backtestSchema.parse(await this.#json("GET", `/api/backtests/${id}`)).backtest;
  }

  /** Every trade, oldest first, page by page. */
  async listTrades(id: string): Promise<Trade[]> {
    const trades: Trade[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const query: string = cursor === "" ? "limit=200" : `limit=200&cursor=${cursor}`;
      const page = tradesSchema.parse(await this.#json("GET", `/api/backtests/${id}/trades?${query}`));
      trades.push(...page.trades);
      cursor = page.next_cursor;
    }
    return trades;
  }

  async readEquity(id: string, points: number): Promise<EquityPoint[]> {
    return equitySchema.parse(await this.#json("GET", `/api/backtests/${id}/equity?points=${points}`)).equity;
  }

  /** Imports candles as an operator who knows the ingestion secret. */
  async importCsv(query: Readonly<Record<string, string>>, csv: ReadableStream<Uint8Array>, secret: string) {
    const response = await fetch(`${this.#baseUrl}/api/admin/ingestion/import?${new URLSearchParams(query)}`, {
      method: "POST",
      headers: { "content-type": "text/csv", "x-ingestion-admin-secret": secret },
      body: csv,
    });
    return importSchema.parse(await (await mustSucceed(response)).json());
  }

  /** From when to when the archive holds candles of a symbol; undefined where it holds none. */
  async findInstrument(symbol: string, exchange: string): Promise<{ first: string; last: string } | undefined> {
    // The search also finds symbols of which this is a part.
    const query = new URLSearchParams({ search: symbol, limit: "200" });
    const { instruments } = instrumentsSchema.parse(await this.#json("GET", `/api/market-data/instruments?${query}`));
    const { first, last } = instruments.find((one) => one.symbol === symbol && one.exchange === exchange) ?? {};
    return typeof first === "string" && typeof last === "string" ? { first, last } : undefined;
  }

  async #json(method: string, path: string, body?: unknown): Promise<unknown> {
    return await (await this.#send(method, path, body)).json();
  }

  async #send(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await fetch(`${this.#baseUrl}${path}`, {
      method,
      headers: { cookie: this.#cookie, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return await mustSucceed(response);
  }
}

/** @throws Error with the service's own words when it refuses. */
async function mustSucceed(response: Response): Promise<Response> {
  if (response.ok) return response;
  const text = await response.text();
  let message = `${response.status} ${text.slice(0, 200)}`;
  try {
    message = errorSchema.parse(JSON.parse(text)).error.message;
  } catch {
    // Not one of the service's errors: the status and the text say what is known.
  }
  throw new Error(message);
}
