"""Serves a remote strategy over HTTP with Python's standard library: version 1 of strategies/REMOTE.md."""

import argparse
import gzip
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROTOCOL_VERSION = 1


def serve(decide):
    """Serves on --host and --port until it is interrupted, and prints its URL first.

    `decide` takes a request and returns a list of actions for each asked candle: the last `asked` candles of the request.
    """
    parser = argparse.ArgumentParser(description="A remote strategy for Hindcast")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9000)
    arguments = parser.parse_args()
    _Endpoint.decide = staticmethod(decide)
    server = ThreadingHTTPServer((arguments.host, arguments.port), _Endpoint)
    server.daemon_threads = True
    print(f"http://{arguments.host}:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


class _Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body leave in separate writes. Without this, the second waits until the first is acknowledged.
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        try:
            request = json.loads(body)
            if request["version"] != PROTOCOL_VERSION:
                raise ValueError(f"cannot speak protocol version {request['version']}")
            self.answer(200, {"version": PROTOCOL_VERSION, "decisions": self.decide(request)})
        except (KeyError, TypeError, ValueError) as error:
            self.answer(400, {"error": f"{type(error).__name__}: {error}"})

    def answer(self, status, content):
        body = gzip.compress(json.dumps(content, allow_nan=False).encode(), compresslevel=1)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Encoding", "gzip")
        # Allows Hindcast to compress its requests.
        self.send_header("Accept-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """A line for each request would be too many."""
