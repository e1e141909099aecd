/** A pair as providers write it: BTCUSDT for BTC/USDT, btc-usdt and BTCUSDT. Only separators are dropped. */
export function compactSymbol(symbol: string): string {
  return symbol.toUpperCase().replaceAll(/[/\-_:. ]/g, "");
}
