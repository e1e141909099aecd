"""A service of one's own for a notebook: in a temporary folder, on a free port, gone at the end."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, List, Optional, Tuple

from .client import Hindcast
from .errors import HindcastError, ServiceUnreachable
from .transport import Transport

START_S_MAX = 300
STOP_S_MAX = 20


class LocalService(Hindcast):
    """A service that `local()` started, with an admin signed in. `close()` ends it and removes its folder."""

    def __init__(self, transport: Transport, process: "subprocess.Popen[Any]", folder: str) -> None:
        super().__init__(transport)
        self._process = process
        self._folder = folder
        atexit.register(self.close)

    @property
    def url(self) -> str:
        """Opens the console in a browser."""
        return self._transport.url

    def close(self) -> None:
        """Ends the service and removes what it kept."""
        atexit.unregister(self.close)
        _end(self._process)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> "LocalService":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def local(repository: Optional[Any] = None, port: Optional[int] = None) -> LocalService:
    """Starts a service in a temporary folder, and connects to it.

    Args:
        repository: The folder of Hindcast's repository; without it HINDCAST_REPOSITORY, else the one that this package lies in. Where
            there is none, the command `hindcast` that npm installed serves.
        port: A free one by default.

    Raises:
        FileNotFoundError: There is neither a repository nor the command, or no npx.
        ServiceUnreachable: It does not answer; the message has the end of its log.
    """
    command, root = _find_command(repository)
    port = port or _free_port()
    folder = tempfile.mkdtemp(prefix="hindcast-")
    secret = secrets.token_urlsafe(24)
    settings = {"PORT": str(port), "HOST": "127.0.0.1", "DATA_DIR": os.path.join(folder, "data"), "INGESTION_ADMIN_SECRET": secret}
    log = open(os.path.join(folder, "log"), "wb")
    # A session of its own, so that the whole family ends with it.
    process = subprocess.Popen(command, cwd=root or folder, env={**os.environ, **settings}, stdout=log, stderr=log, start_new_session=True)
    try:
        transport = Transport(f"http://127.0.0.1:{port}", None)
        _await_health(transport, process, folder)
        token = _sign_up(transport)
        return LocalService(_WithSecret(transport.url, token, secret), process, folder)
    except BaseException:
        _end(process)
        shutil.rmtree(folder, ignore_errors=True)
        raise


class _WithSecret(Transport):
    """The service's own secret lets its only user import candles."""

    def __init__(self, url: str, token: str, secret: str) -> None:
        super().__init__(url, token)
        self._secret = secret

    def _request(self, method, path, body, query, headers):
        if path.startswith("/api/admin/ingestion/"):
            headers = {**headers, "x-ingestion-admin-secret": self._secret}
        return super()._request(method, path, body, query, headers)


def _find_command(repository: Optional[Any]) -> Tuple[List[str], Optional[Path]]:
    """What serves, and the folder that it is called in, where that matters."""
    named = repository or os.environ.get("HINDCAST_REPOSITORY")
    root = Path(named or Path(__file__).resolve().parents[3])
    if (root / "main.ts").is_file():
        deno = ["deno"] if shutil.which("deno") else ["npx", "-y", f"deno@{_runtime_version(root)}"]
        return [*deno, "task", "start"], root
    installed = shutil.which("hindcast")
    if named is None and installed is not None:
        return [installed, "serve"], None
    raise FileNotFoundError(
        f"There is no repository of Hindcast at {root}: name its folder, as in hindcast.local('/path/to/hindcast'), "
        "or install the command with npm (docs/command_line.md)"
    )


def _runtime_version(root: Path) -> str:
    """The version that README's first command names."""
    text = (root / "README.md").read_text("utf-8")
    return text.split("deno@", 1)[1].split()[0]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _await_health(transport: Transport, process: "subprocess.Popen[Any]", folder: str) -> None:
    until = time.monotonic() + START_S_MAX
    while True:
        try:
            data, _ = transport._send(transport._request("GET", "/api/health", None, None, {}))
            if json.loads(data)["status"] == "ok":
                return
        except (HindcastError, ServiceUnreachable):
            pass
        if process.poll() is not None or time.monotonic() > until:
            end = Path(folder, "log").read_text("utf-8", "replace")[-2000:]
            raise ServiceUnreachable(f"The local service does not answer. Its log ends with:\n{end}")
        time.sleep(0.1)


def _sign_up(transport: Transport) -> str:
    account = {"name": "Local", "email": "local@example.com", "password": secrets.token_urlsafe(16)}
    _, headers = transport.bytes("POST", "/api/auth/sign-up/email", account)
    cookie = headers["set-cookie"].split(";")[0]
    asked = {"token": {"name": "local", "scope": "run"}}
    return transport.json("POST", "/api/tokens", asked, cookie=cookie)["secret"]


def _end(process: "subprocess.Popen[Any]") -> None:
    for kind in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, kind)
            process.wait(STOP_S_MAX)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
