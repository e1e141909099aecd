/** An endpoint on loopback that follows the mean of the last three days beside its hours; some of its paths look ahead. */

/** Candles that its decisions look back on. */
export const LOOKBACK = 30;

interface Candles {
  readonly time: readonly number[];
  readonly close: readonly number[];
}
interface Input {
  readonly newest: readonly number[];
  readonly candles: Candles;
}
interface Market {
  readonly id: string;
  readonly quantity: number;
  readonly candles: Candles;
  readonly inputs: Readonly<Record<string, Input>>;
}
/** A request as far as the endpoint reads it. */
export interface InputsRequest {
  readonly version: number;
  readonly asked: number;
  readonly first_asked: number;
  readonly candles: Candles;
  readonly inputs: Readonly<Record<string, Input>>;
  readonly markets?: readonly Market[];
}

const BUY = { side: "buy", when: "flat", size: 0.2, size_by: "equity_fraction" };
const CLOSE = { action: "close", when: "long" };

/** The mean of three closes up to `row`; NaN where there are fewer. */
function mean({ candles: { close } }: Input, row: number): number {
  return row < 2 ? NaN : (close[row - 2]! + close[row - 1]! + close[row]!) / 3;
}

function act(close: number, level: number): readonly object[] {
  return close > level ? [BUY] : close < level ? [CLOSE] : [];
}

/** Decides on one market. @param ahead Rows of the input beyond the newest that was known. */
export function follow({ asked, candles: { close }, inputs }: InputsRequest, ahead = 0): object {
  const { daily } = inputs;
  const decisions = Array.from({ length: asked }, (_, n) => {
    const j = close.length - asked + n;
    const row = Math.min(daily!.newest[j]! + ahead, daily!.candles.close.length - 1);
    return act(close[j]!, mean(daily!, row));
  });
  return { version: 1, decisions };
}

/** The same for all markets at once. */
function followAll({ markets = [] }: InputsRequest): object {
  const orders = markets.map(({ id, candles: { close }, inputs: { daily } }) => {
    return [id, act(close.at(-1)!, mean(daily!, daily!.newest.at(-1)!))];
  });
  return { version: 2, orders: Object.fromEntries(orders) };
}

/** Starts it; `seen` are the requests by path. */
export function startEndpoint() {
  const seen = new Map<string, InputsRequest[]>();
  const answers: Readonly<Record<string, (request: InputsRequest) => object>> = {
    "/follow": follow,
    "/ahead": (request) => follow(request, 1),
    "/all": followAll,
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const body = await request.json();
    seen.set(pathname, [...seen.get(pathname) ?? [], body]);
    return Response.json(answers[pathname]!(body));
  });
  return { server, seen, host: `127.0.0.1:${server.addr.port}` };
}
