/** Buys when the close is above the one `candles` before, with a stop loss; closes when it is below. */
import { type Action, type DecisionRequest, serve } from "./hindcast.ts";

interface Parameters {
  readonly candles?: number;
  readonly stopLoss?: number;
}

/** The actions of each asked candle. */
function decide({ asked, parameters, candles: { close } }: DecisionRequest<Parameters>): Action[][] {
  const { candles = 20, stopLoss = 0.1 } = parameters;
  return Array.from({ length: asked }, (_, n): Action[] => {
    const i = close.length - asked + n;
    const [now, before] = [close[i], close[i - candles]];
    // Without enough history there is no decision.
    if (now === undefined || before === undefined) return [];
    if (now > before) return [{ side: "buy", when: "flat", stop_loss_fraction: stopLoss, tag: "rise" }];
    return now < before ? [{ action: "close", when: "long" }] : [];
  });
}

if (import.meta.main) serve(decide);
