"""Buys when the close is above the one `candles` before, with a stop loss; closes when it is below."""

from hindcast import serve


def decide(request):
    """The actions of each asked candle."""
    closes = request["candles"]["close"]
    candles = request["parameters"].get("candles", 20)
    stop_loss = request["parameters"].get("stopLoss", 0.1)
    decisions = []
    for i in range(len(closes) - request["asked"], len(closes)):
        actions = []
        # Without enough history there is no decision.
        if i >= candles:
            if closes[i] > closes[i - candles]:
                actions.append({"side": "buy", "when": "flat", "stop_loss_fraction": stop_loss, "tag": "rise"})
            elif closes[i] < closes[i - candles]:
                actions.append({"action": "close", "when": "long"})
        decisions.append(actions)
    return decisions


if __name__ == "__main__":
    serve(decide)
