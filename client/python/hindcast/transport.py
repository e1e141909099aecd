"""Requests over HTTP with the standard library: tokens, JSON, refusals, and what is worth trying again."""

from __future__ import annotations

import json
import math
import socket
import time
from http.client import HTTPException
from typing import Any, Iterable, Iterator, Mapping, Optional, Tuple, Union
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .errors import HindcastError, ServiceUnreachable
from .records import to_records
from .version import VERSION

# A long poll waits 30 s in the service.
TIMEOUT_S = 120.0
TRIES_MAX = 5
# Of a stated Retry-After; a longer one is the caller's to wait for.
PAUSE_S_MAX = 30.0
# Codes that say "later". A quota or a rejected request stays as it is.
LATER = ("RATE_LIMITED", "UNAVAILABLE", "PROVIDER_RATE_LIMITED")
USER_AGENT = f"hindcast-python/{VERSION}"

Body = Union[None, bytes, Mapping[str, Any]]


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would carry the token to another address."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # noqa: D102
        return None


class Transport:
    """One service, seen by one caller. Safe to share between threads."""

    def __init__(self, url: str, token: Optional[str]) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"Cannot connect to {url!r}: it must begin with http:// or https://")
        self.url = url.rstrip("/")
        self._token = token
        self._open = build_opener(_NoRedirects).open

    def json(self, method: str, path: str, body: Body = None, query: Optional[Mapping[str, Any]] = None, **headers: str) -> Any:
        """Sends a request and returns its JSON; None for an answer without a body.

        Raises:
            HindcastError: The service refused.
            ServiceUnreachable: Nobody answered, also after further tries where those are safe.
        """
        data, _ = self.bytes(method, path, body, query, **headers)
        return json.loads(data, object_pairs_hook=to_records) if data else None

    def bytes(
        self, method: str, path: str, body: Body = None, query: Optional[Mapping[str, Any]] = None, **headers: str
    ) -> Tuple[bytes, Mapping[str, str]]:
        """The same for any type of answer: its bytes and its headers."""
        for attempt in range(1, TRIES_MAX + 1):
            try:
                return self._send(self._request(method, path, body, query, headers))
            except HindcastError as error:
                pause = error.retry_after if error.retry_after is not None else 0.2 * 2**attempt
                if error.code not in LATER or attempt == TRIES_MAX or pause > PAUSE_S_MAX:
                    raise
            except ServiceUnreachable:
                # What may have been done must not be done twice.
                is_safe = method == "GET" or "Idempotency_Key" in headers
                if not is_safe or attempt == TRIES_MAX:
                    raise
                pause = 0.2 * 2**attempt
            time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def events(self, path: str) -> Iterator[Any]:
        """The data of a stream of server-sent events, from the newest on; a lost connection is made again.

        The iterator ends with the event named `end`.
        """
        failures = 0
        while True:
            try:
                with self._open(self._request("GET", path, None, None, {"accept": "text/event-stream"}), timeout=TIMEOUT_S) as stream:
                    for event, data in _parse_events(stream):
                        failures = 0
                        yield json.loads(data, object_pairs_hook=to_records)
                        if event == "end":
                            return
            except HTTPError as refusal:
                with refusal:
                    error = _refusal(refusal)
                if error.code not in LATER:
                    raise error from None
            except (URLError, HTTPException, socket.timeout, ConnectionError) as lost:
                failures += 1
                if failures == TRIES_MAX:
                    raise self._unreachable(lost) from lost
            time.sleep(0.2 * 2**failures)

    def _unreachable(self, error: BaseException) -> ServiceUnreachable:
        reason = getattr(error, "reason", None) or error
        return ServiceUnreachable(
            f"Cannot reach {self.url}: {reason}. Is the service running there? HINDCAST_URL names another address."
        )

    def _request(self, method, path, body, query, headers) -> Request:
        sent = {"accept": "application/json", "user-agent": USER_AGENT}
        if self._token is not None:
            sent["authorization"] = f"Bearer {self._token}"
        data = body if isinstance(body, bytes) or body is None else to_json(body)
        if data is not None and not isinstance(body, bytes):
            sent["content-type"] = "application/json"
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        return Request(f"{self.url}{path}{'?' + urlencode(asked) if asked else ''}", data, sent, method=method)

    def _send(self, request: Request) -> Tuple[bytes, Mapping[str, str]]:
        try:
            with self._open(request, timeout=TIMEOUT_S) as answer:
                return answer.read(), answer.headers
        except HTTPError as refusal:
            with refusal:
                raise _refusal(refusal) from None
        except (URLError, HTTPException, socket.timeout, ConnectionError) as error:
            raise self._unreachable(error) from error


def to_json(body: Any) -> bytes:
    """A request's body. NumPy's numbers and arrays are sent as Python's own.

    Raises:
        ValueError: A number is NaN or infinite.
        TypeError: A value is none that JSON has.
    """
    try:
        return json.dumps(body, allow_nan=False, default=_to_plain).encode()
    except ValueError:
        for path, value in _walk(body, ""):
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"Cannot send {path}: it must be a finite number, not {value}") from None
        raise


def _to_plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"Cannot send {value!r}: it must be a number, a text, a list or a dict, not {type(value).__name__}")


def _walk(value: Any, path: str) -> Iterator[Tuple[str, Any]]:
    """Each value of a body with the path that the service's messages would name."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    yield path, plain
    pairs = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, (list, tuple)) else ()
    for name, inner in pairs:
        yield from _walk(inner, f"{path}/{name}")


def _refusal(answer: HTTPError) -> HindcastError:
    return HindcastError(answer.code, _parse(answer.read()), _seconds(answer.headers.get("retry-after")))


def _parse_events(stream: Iterable[bytes]) -> Iterator[Tuple[str, str]]:
    """Each event's name and data; comments, which keep the connection open, are passed over."""
    name, data = "message", []
    for line in stream:
        text = line.decode().rstrip("\r\n")
        if text == "":
            if data:
                yield name, "\n".join(data)
            name, data = "message", []
        field, _, value = text.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)


def _parse(data: bytes) -> Mapping[str, Any]:
    try:
        answer = json.loads(data)
        return answer if isinstance(answer, dict) else {}
    except ValueError:
        return {}


def _seconds(text: Optional[str]) -> Optional[float]:
    return float(text) if text is not None and text.isdigit() else None
