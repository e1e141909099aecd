"""Errors: the service refuses, a run fails, or nobody answers."""

from __future__ import annotations

from typing import Any, Mapping, Optional


class HindcastError(Exception):
    """The service refused a request.

    Attributes:
        status: HTTP's status, such as 400.
        code: The service's stable code, such as `INVALID_PARAMETERS`.
        issues: Each field's `{"path": JSON pointer, "message": text}`; empty where no field is at fault.
        request_id: Names the request in the service's log.
        retry_after: Seconds after which trying again makes sense, or None.
    """

    def __init__(self, status: int, answer: Mapping[str, Any], retry_after: Optional[float] = None) -> None:
        error = answer.get("error")
        said: Mapping[str, Any] = error if isinstance(error, Mapping) else {}
        self.status = status
        self.code = str(said.get("code", f"HTTP_{status}"))
        self.issues = list(said.get("issues", []))
        self.request_id = said.get("request_id")
        self.retry_after = retry_after
        super().__init__(str(said.get("message", f"The service answered with status {status}")))


class RunFailed(HindcastError):
    """A run, an optimization or a simulation ended without a result.

    `code` is the run's own, such as `STRATEGY_FAILED`, or `CANCELLED`; `record` is the whole record.
    """

    def __init__(self, record: Mapping[str, Any]) -> None:
        error = record.get("error") or {"code": "CANCELLED", "message": f"{record.get('id')} was cancelled"}
        super().__init__(200, {"error": error})
        self.record = record


class ServiceUnreachable(ConnectionError):
    """Nobody answers at the service's address."""
