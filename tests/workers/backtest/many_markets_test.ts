/** The candles of many instruments are read with few statements. */
import { expect } from "@std/expect";
import { PostgresPool } from "../../../db/postgres/postgres_pool.ts";
import { buffersOf } from "../../../engine/buffer_pool.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import { storeCandles } from "../../../market/archive/store.ts";
import { ReadThrough } from "../../../market/on_demand/read_through.ts";
import { CandleCache } from "../../../workers/backtest/candle_cache.ts";
import { Gatherer } from "../../../workers/backtest/gatherer.ts";
import { loadMarkets, toEngineMarkets } from "../../../workers/portfolio/load_markets.ts";
import { archiveTenDays } from "../../support/backtests.ts";
import { eachDatabaseSteps } from "../../support/database.ts";

const MARKETS = 60;
const SETTINGS = {
  timeframe: "1d",
  hours: "regular",
  execution: resolveExecution({}, "crypto"),
  own: {},
  markets: null,
  inputs: [],
} as const;
const RECORD = {
  id: "none",
  ownerId: "none",
  symbol: "M0",
  exchange: "TEST",
  startDate: "2024-01-01",
  endDate: "2024-01-11",
};

eachDatabaseSteps("many markets", async ({ db }, step) => {
  for (let n = 0; n < MARKETS; n++) await archiveTenDays(db, `M${n}`);
  const readThrough = new ReadThrough(db, () => undefined);
  const cache = new CandleCache(db);
  const load = (markets: number, candles = cache) => {
    const members = Array.from({ length: markets }, (_, n) => ({
      symbol: `M${n}`,
      exchange: "TEST",
      from: null,
      to: null,
    }));
    const wanted = { members, positionsMax: null, rank: "listed", skipsMissing: false } as const;
    const services = { db, candles, readThrough, candlesMax: Infinity };
    return loadMarkets(services, RECORD, SETTINGS, { markets: wanted, lookback: 0 });
  };

  await step("take as many statements as a few do", async () => {
    const few = await countStatements(() => load(2, new CandleCache(db)));
    const many = await countStatements(() => load(MARKETS));
    expect(many.statements).toEqual(few.statements);
    // Names, instruments twice, the versions of what the archive holds of them, the months themselves, and their candles.
    expect(many.statements.length).toBe(6);
    expect(many.answer.markets.map(({ id }) => id)).toEqual(Array.from({ length: MARKETS }, (_, n) => `M${n}@TEST`));
    for (const { data } of many.answer.markets) expect(data.read.candles.time.length).toBe(10);
  });

  await step("are read once into memory that all threads share, and not copied for a further run", async () => {
    const [one, other] = [await load(MARKETS), await countStatements(() => load(MARKETS))];
    for (const [n, { data }] of other.answer.markets.entries()) {
      expect(data.read.candles.close.buffer).toBeInstanceOf(SharedArrayBuffer);
      expect(data.read.candles.close).toBe(one.markets[n]!.data.read.candles.close);
    }
    // All but the months and candles: whether they have changed is asked each time.
    expect(other.statements.length).toBe(4);
  });

  await step("are read again where they have changed, and nowhere else", async () => {
    const before = await load(MARKETS);
    const { data: { instrument, read: { candles } } } = before.markets[3]!;
    const changed = { ...candles, volume: candles.volume.map((volume) => volume + 1) };
    await db.transaction((tx) => storeCandles(tx, { instrumentId: instrument.id, timeframe: "1d" }, changed));
    const { markets } = await load(MARKETS);
    for (const [n, { data }] of markets.entries()) {
      const { volume } = before.markets[n]!.data.read.candles;
      if (n === 3) expect([...data.read.candles.volume]).toEqual([...changed.volume]);
      else expect(data.read.candles.volume).toBe(volume);
    }
  });

  await step("go to a worker in shared memory alone", async () => {
    const { markets } = await load(MARKETS);
    const sent = toEngineMarkets(markets, [], SETTINGS, RECORD);
    expect(sent.markets.every(({ tradingDays }) => tradingDays?.ends.length === 10)).toBe(true);
    expect([...buffersOf(sent)]).toEqual([]);
  });

  await step("are read as one by one", async () => {
    const { markets } = await load(MARKETS);
    const alone = new CandleCache(db);
    for (const { data: { instrument, read } } of markets.slice(0, 5)) {
      const again = await alone.read({
        instrument,
        timeframe: "1d",
        start: Date.UTC(2024, 0),
        end: Date.UTC(2024, 0, 11),
      });
      expect([again.sha256, again.lookback, again.gaps]).toEqual([read.sha256, read.lookback, read.gaps]);
    }
  });
  await readThrough.close();
});

/** Does work. @returns Its answer, and the beginnings of the statements that it sent. */
async function countStatements<Answer>(work: () => Promise<Answer>): Promise<{ statements: string[]; answer: Answer }> {
  const { query } = PostgresPool.prototype;
  const statements: string[] = [];
  PostgresPool.prototype.query = function (text, ...rest) {
    statements.push(text.slice(0, 60));
    return query.call(this, text, ...rest);
  };
  try {
    const answer = await work();
    return { statements, answer };
  } finally {
    PostgresPool.prototype.query = query;
  }
}

Deno.test("questions of one turn are asked at once, in parts within a limit; each has its own answer or error", async () => {
  const asked: number[][] = [];
  const gatherer = new Gatherer<number, string>((questions) => {
    asked.push([...questions]);
    if (questions.includes(13)) return Promise.reject(new Error("no answer to 13"));
    return Promise.resolve(questions.map((question) => `${question}!`));
  }, { sizeOf: (question) => question, sizeMax: 10 });
  const answers = await Promise.allSettled([4, 6, 1, 13, 9].map((question) => gatherer.ask(question)));
  expect(asked).toEqual([[4, 6], [1], [13], [9]]);
  expect(answers.map((answer) => answer.status === "fulfilled" ? answer.value : "failed")).toEqual([
    ...["4!", "6!", "1!", "failed", "9!"],
  ]);
  expect(await gatherer.ask(2)).toBe("2!");
  expect(asked.length).toBe(5);
});
