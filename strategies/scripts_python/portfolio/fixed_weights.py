"""Chosen weights, restored once one of them is too far off."""
from typing import Literal


class FixedWeights(Portfolio):
    # Such as "SPY 0.6, TLT 0.4"; empty: the same for each.
    weights: str = ""
    band: float = 0.0
    every: Literal["day", "week", "month", "quarter"] = "month"

    def prepare(self, markets):
        wanted = [part.split() for part in self.weights.split(",") if part.strip()]
        named = {markets.of(name).index: float(value) for name, value in wanted}
        self.shares = [named.get(market.index, 0.0) if wanted else 1 / len(markets) for market in markets]
        self.has_begun = False

    def decide(self, now, markets, account, orders):
        held = [
            share if market.is_member or market.quantity != 0 else 0.0 for market, share in zip(markets, self.shares)
        ]
        is_off = any(abs(market.weight - share) >= self.band for market, share in zip(markets, held))
        if self.has_begun and not is_off:
            return
        self.has_begun = True
        orders.target({market.id: share for market, share in zip(markets, held)})
