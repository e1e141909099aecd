import { expect } from "@std/expect";
import { INGESTION_SECRET, type TestService } from "./service.ts";

/** Ten daily candles whose mean of two crosses that of three upwards once and downwards once. */
const CSV = `date,open,high,low,close,volume
2023-01-02,10,11,9,10,100
2023-01-03,10,11,9,10,100
2023-01-04,10,11,8,9,100
2023-01-05,9,10,7,8,100
2023-01-06,8,13,8,12,100
2023-01-09,12,16,12,15,100
2023-01-10,15,17,14,16,100
2023-01-11,16,16,10,11,100
2023-01-12,11,11,7,8,100
2023-01-13,8,9,6,7,100
`;

/** A run over all of them. */
export const REQUEST = {
  symbol: "TEN",
  exchange: "TEST",
  strategy: "SMA Cross",
  start_date: "2023-01-02",
  end_date: "2023-01-14",
  initial_balance: 1000,
  parameters: { timeframe: "1d", fast: 2, slow: 3, direction: "long", execution: { quantityStep: 1 } },
};

/** Imports them as TEN. */
export async function importTen(service: TestService): Promise<void> {
  const path = "/api/admin/ingestion/import?symbol=TEN&exchange=TEST&assetClass=stock&timeframe=1d";
  const answer = await service.client().send("POST", path, CSV, {
    "content-type": "text/csv",
    "x-ingestion-admin-secret": INGESTION_SECRET,
  });
  expect([answer.status, answer.at("/imported")]).toEqual([200, 10]);
}
