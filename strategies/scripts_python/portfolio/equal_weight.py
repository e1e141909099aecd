"""The same weight for each member."""
from typing import Literal


class EqualWeight(Portfolio):
    every: Literal["day", "week", "month", "quarter"] = "month"
    exposure: float = 1.0
    min_trade: float = 0.0

    def decide(self, now, markets, account, orders):
        members = [market.id for market in markets if market.is_member and market.i >= 0]
        orders.target({name: self.exposure / len(members) for name in members}, min_trade=self.min_trade)
