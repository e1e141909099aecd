/** An endpoint on loopback for runs over many markets: honest answers, and others. */

/** Candles before a decision of `/follow`. */
export const LOOKBACK = 24;

interface Candles {
  readonly time: readonly number[];
  readonly close: readonly number[];
}
interface OneRequest {
  readonly version: number;
  readonly asked: number;
  readonly candles: Candles;
}
interface Market {
  readonly id: string;
  readonly symbol: string;
  readonly is_member: boolean;
  readonly has_closed: boolean;
  readonly candles: Candles;
  readonly open_trades: readonly unknown[];
  readonly working_orders: readonly string[];
}
export interface AllRequest {
  readonly version: number;
  readonly mode: string;
  readonly now: number;
  readonly account: { readonly equity: number };
  readonly markets: readonly Market[];
}

/** Long while a close is above the one of a day before; draws both. */
function follow({ asked, candles: { close } }: OneRequest): object {
  const decisions = Array.from({ length: asked }, (_, n) => {
    const i = close.length - asked + n;
    if (i < LOOKBACK) return [];
    return close[i]! > close[i - LOOKBACK]!
      ? [{ side: "buy", when: "not_long", size: 0.2, size_by: "equity_fraction", tag: "up" }]
      : [{ action: "close", when: "long" }];
  });
  const drawn = Array.from({ length: asked }, (_, n) => close.length - asked + n)
    .map((i) => i < LOOKBACK ? [null, null] : [close[i - LOOKBACK]!, close[i]! / close[i - LOOKBACK]! - 1]);
  const plots = { before: drawn.map(([before]) => before), rise: drawn.map(([, rise]) => rise) };
  return { version: 1, decisions, plots, panes: { rise: "rises" } };
}

/** The two best of the last 48 hours. */
function rotate({ account: { equity }, markets }: AllRequest): object {
  const rises = markets.filter(({ is_member, candles }) => is_member && candles.close.length === 49)
    .map(({ id, candles: { close } }) => ({ id, rise: close[48]! / close[0]! - 1 })).sort((a, b) => b.rise - a.rise);
  const plots = { equity };
  if (rises.length === 0) return { version: 2, plots };
  return { version: 2, targets: Object.fromEntries(rises.slice(0, 2).map(({ id }) => [id, 0.5])), plots };
}

/** Answers of one endpoint by the paths of its address; `seen` are the requests to each. */
export function startEndpoint() {
  const seen = new Map<string, unknown[]>();
  const held: (() => void)[] = [];
  let calls = 0;
  const answers: Readonly<Record<string, (request: never) => unknown>> = {
    "/follow": follow,
    "/rotate": rotate,
    "/both": (request: OneRequest & AllRequest) => request.version === 2 ? rotate(request) : follow(request),
    "/orders": orderByHand,
    "/chance": () => ({ version: 2, targets: { AAA: (++calls % 7) / 10 } }),
    "/first": () => ({ version: 1, decisions: [] }),
    "/nobody": () => ({ version: 2, targets: { ZZZ: 1 } }),
    "/huge": () => ({ version: 2, targets: { AAA: 1e308 } }),
    "/twice": () => ({ version: 2, targets: { AAA: 1, "AAA@LAB": 1 } }),
    "/text": () => ({ version: 2, orders: { AAA: "buy" } }),
    "/misspelt": () => ({ version: 2, target: { AAA: 1 } }),
    "/many": () => ({
      version: 2,
      targets: Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [`X${n}`, 1])),
    }),
    "/long": () => ({ version: 2, targets: {}, tag: "x".repeat(3_000_000) }),
    "/series": () => ({ version: 2, plots: { a: [1] } }),
    "/negative": () => ({ version: 2, targets: {}, min_trade: -1 }),
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const body = await request.json();
    seen.set(pathname, [...seen.get(pathname) ?? [], body]);
    if (pathname === "/held") await new Promise<void>((go) => held.push(go));
    if (pathname === "/infinite") return new Response('{"version":2,"targets":{"AAA":1e999}}');
    if (pathname === "/old") return Response.json({ error: "version 2 is not known" }, { status: 400 });
    const answer = answers[pathname];
    return Response.json(answer === undefined ? {} : answer(body as never));
  });
  return { server, seen, release: () => held.splice(0).forEach((go) => go()), host: `127.0.0.1:${server.addr.port}` };
}

/** BBB is bought with a stop at midnight and closed at noon; AAA has a limit order that is never reached. */
function orderByHand({ now, markets }: AllRequest): object {
  const hour = new Date(now).getUTCHours();
  const [, b] = markets;
  if (hour === 0 && b!.open_trades.length === 0) {
    return {
      version: 2,
      orders: {
        BBB: [{ side: "buy", size: 0.2, size_by: "equity_fraction", stop_loss_fraction: 0.05, tag: "day" }],
        "AAA@LAB": [{ side: "buy", type: "limit", limit_price: 1, size: 1, id: "dip", when: "flat" }],
      },
    };
  }
  if (hour !== 12) return { version: 2 };
  const dip = markets[0]!.working_orders.includes("dip");
  return { version: 2, orders: { BBB: [{ action: "close" }], ...(dip && { AAA: [{ action: "cancel", id: "dip" }] }) } };
}
