"""Bases of strategies that run in the service, so that a program or a notebook can define them."""

from __future__ import annotations


class Strategy:
    """A strategy over one market: `class Cross(Strategy)`, with parameters as attributes and a method `decide`.

    `hc.run(Cross, ...)` sends the text of the class. What its methods use, such as `sma`, is there in the service:
    strategies/PYTHON.md lists it.
    """


class Portfolio:
    """The same over many markets at once."""
