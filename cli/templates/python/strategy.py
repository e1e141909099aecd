"""Buys when the close is above the one `candles` before, with a stop loss; closes when it is below. Yours to change.

Python's standard library and nothing else. What is asked and answered is written in Hindcast's strategies/REMOTE.md.
"""

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROTOCOL_VERSION = 1


def decide(request):
    """The actions of each asked candle: of the last `asked` that came."""
    closes = request["candles"]["close"]
    candles = request["parameters"].get("candles", 20)
    stop_loss = request["parameters"].get("stopLoss", 0.1)
    decisions = []
    for i in range(len(closes) - request["asked"], len(closes)):
        actions = []
        # Where too few candles are known there is nothing to decide.
        if i >= candles:
            if closes[i] > closes[i - candles]:
                actions.append({"side": "buy", "when": "flat", "stop_loss_fraction": stop_loss, "tag": "rise"})
            elif closes[i] < closes[i - candles]:
                actions.append({"action": "close", "when": "long"})
        decisions.append(actions)
    return decisions


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body leave in separate writes: without this the second waits for the first to be acknowledged.
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            request = json.loads(body)
            if request["version"] != PROTOCOL_VERSION:
                raise ValueError(f"protocol version {request['version']} is not spoken here")
            self.answer(200, {"version": PROTOCOL_VERSION, "decisions": decide(request)})
        except (KeyError, TypeError, ValueError) as error:
            self.answer(400, {"error": f"{type(error).__name__}: {error}"})

    def answer(self, status, content):
        body = json.dumps(content, allow_nan=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """One line a request is more than anybody reads."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A remote strategy")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9000)
    arguments = parser.parse_args()
    server = ThreadingHTTPServer((arguments.host, arguments.port), Endpoint)
    server.daemon_threads = True
    print(f"http://{arguments.host}:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
