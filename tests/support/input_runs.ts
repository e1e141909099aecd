/** Runs over hours of AAA that read other candles. */
import { expect } from "@std/expect";
import { BACKTEST, type TestClient } from "./client.ts";
import { INGESTION_SECRET } from "./service.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const REQUEST = {
  ...BACKTEST,
  symbol: "AAA",
  exchange: "LAB",
  start_date: "2024-01-10",
  end_date: "2024-02-20",
  fresh: true,
};
/** The example of docs/strategies.md. */
export const INPUTS = await readExample();

/** Reads three inputs in each way: at once, through an indicator, and beside its own candles. */
export const READER = `strategy(() => ({
  warmup: 30,
  prepare({ close, inputs }) {
    this.mean = sma(inputs.daily.close, 3);
    this.spread = subtract(close, inputs.daily.close);
  },
  decide(i, { close, inputs }, account, orders) {
    plot("daily", inputs.daily.close[i]);
    plot("opened", inputs.daily.time[i]);
    plot("mean", this.mean[i]);
    plot("spread", this.spread[i]);
    plot("stock", inputs.stock.close[i]);
    plot("ahead", i + 1 < inputs.daily.close.length ? inputs.daily.close[i + 1] : NaN);
    if (account.quantity === 0 && close[i] > this.mean[i]) orders.buy();
    if (account.quantity > 0 && close[i] < this.mean[i]) orders.close();
  },
}));`;

/** The same in Python. */
export const PYTHON_READER = `class Reader(Strategy):
    warmup = 30

    def prepare(self, candles):
        self.mean = sma(candles.inputs.daily.close, 3)
        self.spread = subtract(candles.close, candles.inputs["daily"].close)

    def decide(self, i, candles, account, orders):
        inputs = candles.inputs
        plot("daily", inputs.daily.close[i])
        plot("opened", inputs.daily.time[i])
        plot("mean", self.mean[i])
        plot("spread", self.spread[i])
        plot("stock", inputs.stock.close[i])
        plot("ahead", inputs.daily.close[i + 1] if i + 1 < len(inputs.daily.close) else nan)
        if account.quantity == 0 and candles.close[i] > self.mean[i]:
            orders.buy()
        if account.quantity > 0 and candles.close[i] < self.mean[i]:
            orders.close()
`;

async function readExample(): Promise<Readonly<Record<string, { readonly timeframe: string }>>> {
  const page = await Deno.readTextFile(new URL("../../docs/strategies.md", import.meta.url));
  return JSON.parse(/^\{ "daily": \{ "timeframe": "1d" \}, .*$/m.exec(page)![0]);
}

/** Days of a stock that trades in New York; the close of a day is its number in the month. */
export async function importStock(url: string): Promise<void> {
  const lines = Array.from({ length: 60 }, (_, n) => new Date(Date.UTC(2024, 0, 1) + n * DAY_MS))
    .filter((day) => day.getUTCDay() % 6 !== 0)
    .map((day) => {
      const price = day.getUTCDate() + 100 * day.getUTCMonth() + 1000;
      return [day.toISOString(), price, price, price, price, 1].join(",");
    });
  const path = "/api/admin/ingestion/import?symbol=SPY&exchange=ARCA&assetClass=stock&timeframe=1d";
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "text/csv", "x-ingestion-admin-secret": INGESTION_SECRET },
    body: ["timestamp,open,high,low,close,volume", ...lines].join("\n"),
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
}

/** The stock's last close at a moment: New York closes at 16:00, which is 21:00 UTC in winter. */
export function stockAt(moment: number): number {
  let date = new Date(moment - 21 * HOUR_MS);
  while (date.getUTCDay() % 6 === 0) date = new Date(date.getTime() - DAY_MS);
  return date.getUTCDate() + 100 * date.getUTCMonth() + 1000;
}

export const inline = (source: string) => ({ type: "script", source });

export async function run(user: TestClient, parameters: object, rest: object = {}) {
  const backtest = { ...REQUEST, strategy: "mine", ...rest, parameters: { timeframe: "1h", ...parameters } };
  const submitted = await user.send("POST", "/api/backtests", { backtest });
  expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
  return Object((await user.finish(submitted.at("/backtest/id"))).at("/backtest"));
}
