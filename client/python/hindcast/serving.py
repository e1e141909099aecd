"""`serve()`: this machine decides for a strategy, and fetches what it decides on. Nothing has to be reachable."""

from __future__ import annotations

import json
import random
import time
from typing import Any, Callable, Dict, List, Mapping, NoReturn, Optional, Tuple, Union

from .bases import Portfolio, Strategy
from .client import Hindcast, connect
from .errors import HindcastError, ServiceUnreachable
from .transport import Transport

# Of requests about one market, and about all markets at once.
ONE_MARKET, ALL_MARKETS = 1, 2
# Below the service's limit of a body, which has a little more than the answer.
ANSWER_BYTES_MAX = 900_000
ERROR_CHARACTERS_MAX = 200
PAUSE_S_MAX = 10.0
# The service is starting, or asks for fewer requests.
LATER = (429, 502, 503, 504)

Request = Mapping[str, Any]
Decide = Callable[[Request], Union[List[List[Mapping[str, Any]]], Mapping[str, Any], None]]


def serve(
    strategy: Union[Decide, type, Any],
    name: str,
    service: Optional[Hindcast] = None,
    *,
    log: Callable[[str], Any] = print,
) -> None:
    """Decides for the endpoint `serve:NAME` until it is interrupted.

    Runs name it in place of an address: `hc.run("serve:mine", ...)`. It fetches each request, so it works behind any router. Several
    programs of one name share the requests. A lost service is asked again until it is back.

    Args:
        strategy: A function of a request that returns a list of actions for each of its last `asked` candles, as strategies/REMOTE.md
            says; or a class or an object with such a method `decide`. To draw series, it returns a dict with these lists as
            `decisions`, and `plots`. In mode `portfolio` it returns a dict with `targets`, `orders`, `plots` or several of them,
            or None. The same request must always give the same answer.
        name: Lower-case letters, digits and hyphens.
        service: Without one, `connect()`. Its token needs the scope `serve`, which allows nothing else, or `run`.
        log: Gets a line for each error of the strategy, and for a service that is lost.

    Raises:
        HindcastError: The service refuses, such as for a token without the scope.
    """
    decide = _to_function(strategy)
    transport = (service or connect())._transport
    log(f"Serving {name} for {transport.url}: run serve:{name}")
    try:
        _serve(decide, name, transport, log)
    except KeyboardInterrupt:
        log(f"Stopped serving {name}.")


def _serve(decide: Decide, name: str, transport: Transport, log: Callable[[str], Any]) -> NoReturn:
    answer: Optional[Dict[str, Any]] = None
    failures = 0
    while True:
        body = {} if answer is None else {"answer": answer}
        try:
            # Also sent again: the first answer to a request counts, and no program gets a request that another one has.
            said = transport.json("POST", f"/api/endpoints/{name}/next", body)
        except (HindcastError, ServiceUnreachable) as error:
            if isinstance(error, HindcastError) and error.status not in LATER:
                raise
            if failures == 0:
                log(f"{error} Trying again.")
            failures += 1
            wait = getattr(error, "retry_after", None) or min(PAUSE_S_MAX, 0.2 * 2 ** min(failures, 10))
            # Many programs must not come back at once.
            time.sleep(wait * random.uniform(0.5, 1.0) if failures > 1 else min(wait, 0.2))
            continue
        failures = 0
        answer = None
        request = said.get("request")
        if request is not None:
            answer = {"id": request["id"], **_answer(decide, request["body"], log)}


def _to_function(strategy: Any) -> Decide:
    kind = strategy if isinstance(strategy, type) else type(strategy)
    if issubclass(kind, (Strategy, Portfolio)):
        raise TypeError(
            f"Cannot serve {kind.__name__}: it is a script, whose names the service has: hc.run({kind.__name__}, ...) sends it there. "
            "serve() takes a function, or a class of no base with decide(request)"
        )
    target = strategy() if isinstance(strategy, type) else strategy
    decide = getattr(target, "decide", target)
    if not callable(decide):
        raise TypeError(f"Cannot serve {strategy!r}: it must be a function, or have a method decide(request)")
    return decide


def _answer(decide: Decide, request: Request, log: Callable[[str], Any]) -> Dict[str, Any]:
    try:
        if request["version"] == ALL_MARKETS:
            return {"body": {**(decide(request) or {}), "version": ALL_MARKETS}}
        if request["version"] != ONE_MARKET:
            raise ValueError(f"this package speaks versions 1 and 2 of the protocol, not {request['version']}")
        return {"body": _to_page(request, decide(request))}
    except Exception as error:  # The author's code may fail in any way, and the next run may not.
        text = f"{type(error).__name__}: {error}"
        log(f"Cannot decide: {text}")
        return {"error": text[:ERROR_CHARACTERS_MAX]}


def _to_page(request: Request, decisions: Any) -> Mapping[str, Any]:
    """The answer; its first half, or less, where the whole is too long for one request."""
    drawn: Mapping[str, Any] = {}
    if isinstance(decisions, Mapping):
        drawn = {name: decisions[name] for name in ("plots", "panes") if decisions.get(name) is not None}
        decisions = decisions["decisions"]
    plots = {name: list(values) for name, values in drawn.get("plots", {}).items()}
    listed = [[dict(action) for action in actions] for actions in decisions]
    if len(listed) != request["asked"]:
        raise ValueError(f"decide() must return {request['asked']} lists, one for each asked candle, not {len(listed)}")
    for count in _halves(len(listed)):
        page = {"version": ONE_MARKET, "decisions": listed[:count], **drawn}
        if plots:
            page["plots"] = {name: values[:count] for name, values in plots.items()}
        if count < len(listed):
            page.update(first_asked=request["first_asked"], more=True)
        if len(json.dumps(page, allow_nan=False).encode()) <= ANSWER_BYTES_MAX:
            return page
    raise ValueError("the actions of one candle are too long")


def _halves(count: int) -> Tuple[int, ...]:
    counts = [count]
    while counts[-1] > 1:
        counts.append(counts[-1] // 2)
    return tuple(counts)
