/**
 * A pair as providers write it: BTC/USDT, btc-usdt and BTCUSDT are BTCUSDT.
 *
 * Only what separates is dropped. Whatever else a symbol holds is a part of it, and makes it another one.
 */
export function compactSymbol(symbol: string): string {
  return symbol.toUpperCase().replaceAll(/[/\-_:. ]/g, "");
}
