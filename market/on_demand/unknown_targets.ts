import type { Db } from "../../db/client.ts";
import { findMarketNames, type InstrumentKey } from "../../db/instruments.ts";
import type { Feeds } from "../feeds/feed.ts";
import { compactSymbol } from "../feeds/symbols.ts";
import { canBeServed, isSameExchange } from "./choose_target.ts";

/**
 * The instruments of a list that the archive does not hold and no feed can have, by the rules of chooseTargets(): one statement for all.
 *
 * @returns Those of `wanted`, in its order.
 */
export async function findUnknown<Key extends InstrumentKey>(
  db: Db,
  feeds: Feeds,
  wanted: readonly Key[],
): Promise<readonly Key[]> {
  const symbols = new Set(wanted.flatMap(({ symbol }) => [symbol, compactSymbol(symbol)]));
  const exchanges = new Map<string, string[]>();
  for (const { symbol, exchange } of await findMarketNames(db, [...symbols])) {
    exchanges.set(symbol, [...exchanges.get(symbol) ?? [], exchange]);
  }
  const isHeld = (symbol: string, exchange: string) =>
    (exchanges.get(symbol) ?? []).some((held) => isSameExchange(held, exchange));
  const served = new Map<string, boolean>();
  const isServed = (key: Key) => {
    const known = served.get(key.exchange) ?? canBeServed(feeds, key);
    served.set(key.exchange, known);
    return known;
  };
  return wanted.filter((key) =>
    !isHeld(key.symbol, key.exchange) && !isHeld(compactSymbol(key.symbol), key.exchange) && !isServed(key)
  );
}
