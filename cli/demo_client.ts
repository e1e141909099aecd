import { createTRPCClient, httpBatchLink } from "@trpc/client";
import type { inferRouterInputs, inferRouterOutputs } from "@trpc/server";
import { z } from "zod";
import type { AppRouter } from "../routers/app.ts";

type Inputs = inferRouterInputs<AppRouter>;
type Outputs = inferRouterOutputs<AppRouter>;

/** The typed client of a signed-in user, as a frontend has it. */
export type Api = ReturnType<typeof createTRPCClient<AppRouter>>;
export type BacktestRequest = Inputs["backtests"]["create"]["backtest"];
export type Backtest = Outputs["backtests"]["get"]["backtest"];
export type Optimization = Outputs["optimizations"]["get"]["optimization"];
export type Portfolio = NonNullable<NonNullable<Backtest["result"]>["portfolio"]>;
export type Metrics = NonNullable<Backtest["result"]>["metrics"];
export type Trade = Outputs["backtests"]["trades"]["trades"][number];
export type EquityPoint = Outputs["backtests"]["equity"]["equity"][number];

// Trades or instruments of one call.
const PAGE_MAX = 200;

// Accounts and imports have REST routes alone, so their answers have no type of their own.
const errorSchema = z.object({ error: z.object({ message: z.string() }) });
const importSchema = z.object({
  imported: z.number(),
  rejected_count: z.number(),
  rejected: z.array(z.object({ line: z.number(), reason: z.string() })),
  convention: z.string().nullable(),
  dialect: z.object({ name: z.string() }),
});

/**
 * Signs a new user up.
 *
 * @param baseUrl The service's address, without a slash at its end.
 * @returns A client that sends the session's cookie. Its calls throw TRPCClientError with the service's message.
 */
export async function signUp(baseUrl: string, email: string, password: string): Promise<Api> {
  const response = await fetch(`${baseUrl}/api/auth/sign-up/email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Demo", email, password }),
  });
  await readAnswer(response);
  const cookie = response.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
  return createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: `${baseUrl}/trpc`, headers: { cookie } })] });
}

/** Imports a CSV file with the ingestion secret. @throws Error with the service's message. */
export async function importCsv(
  baseUrl: string,
  secret: string,
  query: Readonly<Record<string, string>>,
  csv: ReadableStream<Uint8Array>,
): Promise<z.infer<typeof importSchema>> {
  const response = await fetch(`${baseUrl}/api/admin/ingestion/import?${new URLSearchParams(query)}`, {
    method: "POST",
    headers: { "content-type": "text/csv", "x-ingestion-admin-secret": secret },
    body: csv,
  });
  return importSchema.parse(await readAnswer(response));
}

/** Every trade of a backtest, oldest first. */
export async function listTrades(api: Api, id: string): Promise<Trade[]> {
  const trades: Trade[] = [];
  let cursor: string | undefined;
  do {
    const page: Outputs["backtests"]["trades"] = await api.backtests.trades.query({ id, limit: PAGE_MAX, cursor });
    trades.push(...page.trades);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return trades;
}

/** The opens of the first and last candle that the archive holds of an instrument; undefined without a candle. */
export async function findHolding(
  api: Api,
  symbol: string,
  exchange: string,
): Promise<{ first: string; last: string } | undefined> {
  const { instruments } = await api.marketData.instruments.query({ search: symbol, limit: PAGE_MAX });
  // The search also finds longer symbols.
  const { first, last } = instruments.find((one) => one.symbol === symbol && one.exchange === exchange) ?? {};
  return typeof first === "string" && typeof last === "string" ? { first, last } : undefined;
}

async function readAnswer(response: Response): Promise<unknown> {
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  let message = `${response.status} ${text.slice(0, 200)}`;
  try {
    message = errorSchema.parse(JSON.parse(text)).error.message;
  } catch {
    // A proxy may have answered: status and text are all that is known.
  }
  throw new Error(message);
}
