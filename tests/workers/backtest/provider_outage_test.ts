import { expect } from "@std/expect";
import { createServer, type Socket } from "node:net";
import { BinanceFeed } from "../../../market/feeds/binance.ts";
import { createFeeds } from "../../../market/feeds/registry.ts";
import { ReadThrough } from "../../../market/on_demand/read_through.ts";
import { openQueue } from "../../../workers/queue.ts";
import { createCallerFactory } from "../../../routers/common/trpc.ts";
import { marketDataRouter } from "../../../routers/market_data/market_data.ts";
import type { Db } from "../../../db/client.ts";
import type { NewBacktest } from "../../../db/backtests.ts";
import { addUser, newTenDaysBacktest, submitBacktest, untilEnded } from "../../support/backtests.ts";
import { strangerContext } from "../../support/context.ts";
import { databaseTest } from "../../support/database.ts";

const answer = (status: string, more = "") => (socket: Socket) =>
  socket.end(`HTTP/1.1 ${status}\r\n${more}content-length: 2\r\nconnection: close\r\n\r\n{}`);

// A run fetches four times, the request for ticks twice; no retry follows an answer that says when to come back.
const OUTAGES = [
  ["an error", answer("503 Service Unavailable"), "PROVIDER_FAILED", 6],
  ["a silence", () => {}, "PROVIDER_FAILED", 6],
  ["a reset", (socket: Socket) => socket.resetAndDestroy(), "PROVIDER_FAILED", 6],
  ["too many requests", answer("429 Too Many Requests", "retry-after: 60\r\n"), "PROVIDER_RATE_LIMITED", 1],
  ["an unknown symbol", answerUnknown, "NO_DATA", 2],
] as const;

databaseTest(
  "a provider's outage fails a run with PROVIDER_FAILED after retries, and ticks with 502",
  async (handle) => {
    const { db } = handle;
    await addUser(db, "ann");
    for (const [name, respond, code, asked] of OUTAGES) {
      await using provider = await openProvider(respond);
      const feed = new BinanceFeed({ baseUrl: provider.url, timeoutMs: name === "a silence" ? 300 : 60_000 });
      const patience = { attemptsMax: 2, waitMsMax: 0, delay: () => Promise.resolve() };
      const readThrough = new ReadThrough(db, ({ assetClass }) => assetClass === "crypto" ? feed : undefined, {
        patience,
      });
      const { error } = await runOnce(db, { handle, readThrough }, { symbol: "BTCUSDT", exchange: "Binance" });
      expect([name, error?.code, error?.message]).toEqual([name, code, expect.stringContaining("Binance")]);
      const api = createCallerFactory(marketDataRouter)({ ...strangerContext(db), readThrough });
      const ticks = api.ticks({ symbol: "BTCUSDT", startDate: "2024-01-01", endDate: "2024-01-02", limit: 1 });
      await expect(ticks).rejects.toMatchObject({ appCode: code === "NO_DATA" ? "SYMBOL_NOT_FOUND" : code });
      expect([name, provider.connections()]).toEqual([name, asked]);
      await readThrough.close();
    }
  },
);

databaseTest("a run on a stock without a key names the variable and the import", async (handle) => {
  const { db } = handle;
  await addUser(db, "ann");
  const run = async (exchange: string) => {
    const readThrough = new ReadThrough(db, createFeeds());
    const { error } = await runOnce(db, { handle, readThrough }, { symbol: "AAPL", exchange });
    return [error?.code, error?.message];
  };
  expect(await run("massive")).toEqual([
    "NO_DATA",
    "Cannot ask provider_b for stock candles: MASSIVE_API_KEY is not set; " +
    "set it, or import candles with POST /api/admin/ingestion/import",
  ]);
  expect(await run("NASDAQ")).toEqual(["NO_DATA", expect.stringMatching(/MASSIVE_API_KEY is not set.*imported$/)]);
  expect(await run("MASIVE")).toEqual(["NO_DATA", expect.stringContaining("did you mean MASSIVE?")]);
});

async function runOnce(
  db: Db,
  services: Pick<Parameters<typeof openQueue>[0], "handle" | "readThrough">,
  more: Partial<NewBacktest>,
) {
  const queue = await openQueue({ ...services, runSecondsMax: 60 });
  try {
    await queue.work(1);
    return await untilEnded(db, await submitBacktest(db, queue, newTenDaysBacktest("ann", more)));
  } finally {
    await queue.close();
  }
}

function answerUnknown(socket: Socket): void {
  const body = '{"code":-1121,"msg":"Invalid symbol."}';
  socket.end(`HTTP/1.1 400 Bad Request\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
}

/** A provider that treats each connection alike, once a request has arrived. */
async function openProvider(respond: (socket: Socket) => void) {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => respond(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot listen on loopback");
  return {
    url: `http://127.0.0.1:${address.port}`,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
