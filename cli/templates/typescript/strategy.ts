/**
 * Buys when the close is above the one `candles` before, with a stop loss; closes when it is below. Yours to change.
 *
 * Deno and nothing else. What is asked and answered is written in Hindcast's strategies/REMOTE.md.
 */

const PROTOCOL_VERSION = 1;

interface DecisionRequest {
  readonly version: number;
  readonly asked: number;
  readonly parameters: { readonly candles?: number; readonly stopLoss?: number };
  /** Six lists of equal length, oldest first: time, open, high, low, close, volume. */
  readonly candles: { readonly close: readonly number[] };
}

type Action =
  | {
    readonly side: "buy" | "sell";
    readonly when: "flat";
    readonly stop_loss_fraction: number;
    readonly tag: string;
  }
  | { readonly action: "close"; readonly when: "long" };

/** The actions of each asked candle: of the last `asked` that came. */
function decide({ asked, parameters: { candles = 20, stopLoss = 0.1 }, candles: { close } }: DecisionRequest) {
  return Array.from({ length: asked }, (_, n): Action[] => {
    const i = close.length - asked + n;
    const [now, before] = [close[i], close[i - candles]];
    // Where too few candles are known there is nothing to decide.
    if (now === undefined || before === undefined) return [];
    if (now > before) return [{ side: "buy", when: "flat", stop_loss_fraction: stopLoss, tag: "rise" }];
    return now < before ? [{ action: "close", when: "long" }] : [];
  });
}

async function answer(http: Request): Promise<Response> {
  try {
    const request: DecisionRequest = await http.json();
    if (request.version !== PROTOCOL_VERSION) throw new RangeError(`Cannot speak protocol version ${request.version}`);
    return Response.json({ version: PROTOCOL_VERSION, decisions: decide(request) });
  } catch (error) {
    return Response.json({ error: String(error) }, { status: 400 });
  }
}

if (import.meta.main) {
  const port = Deno.args.map((argument) => /^--port=(\d+)$/.exec(argument)?.[1]).find((found) => found !== undefined);
  const onListen = ({ port }: Deno.NetAddr) =>
    void Deno.stdout.write(new TextEncoder().encode(`http://127.0.0.1:${port}/\n`));
  Deno.serve({ hostname: "127.0.0.1", port: Number(port ?? 9000), onListen }, answer);
}
