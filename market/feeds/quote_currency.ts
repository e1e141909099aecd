/** The currencies in which instruments are quoted, where their names tell. */
import type { AssetClass } from "../../db/instruments.ts";
import { compactSymbol } from "./symbols.ts";

/** A currency: three capitals of ISO 4217, or the symbol of a coin. */
export const CURRENCY = /^[A-Z0-9]{3,10}$/;

/** Coins that follow the US dollar count as dollars: each is worth one but for fractions of a percent. */
const DOLLARS = ["FDUSD", "USDT", "USDC", "TUSD", "BUSD", "USDP", "DAI", "USD"];
/** Other currencies in which coins are quoted. */
const QUOTES = ["EUR", "GBP", "JPY", "TRY", "BRL", "AUD", "BTC", "ETH", "BNB"];

/** The quote currency of a pair of ISO currencies, such as USD of EURUSD; null for any other name. */
function forexCurrency(pair: string): string | null {
  return /^[A-Z]{6}$/.test(pair) ? pair.slice(3) : null;
}

/** The quote currency of a pair of coins, such as USD of BTCUSDT; null where no known one ends the name. */
function coinCurrency(pair: string): string | null {
  const ends = (quote: string) => pair.length > quote.length && pair.endsWith(quote);
  return DOLLARS.some(ends) ? "USD" : QUOTES.find(ends) ?? null;
}

/** The quote currency of a forex or crypto pair by its name; null for stocks, whose names do not tell. */
export function quoteCurrencyOf(
  { symbol, assetClass }: { readonly symbol: string; readonly assetClass: AssetClass },
): string | null {
  const pair = compactSymbol(symbol);
  return assetClass === "forex" ? forexCurrency(pair) : assetClass === "crypto" ? coinCurrency(pair) : null;
}

/** The names of the pair that says what one unit of a currency is worth in another. */
export function pairNames(from: string, to: string): readonly string[] {
  return ["", "/", "-", "_", "."].map((separator) => `${from}${separator}${to}`);
}
