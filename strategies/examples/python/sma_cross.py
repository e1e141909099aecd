"""SMA cross as a remote strategy, with nothing but Python's standard library.

    python3 sma_cross.py --port 9000

Buys where the fast simple moving average of closes crosses above the slow one; sells, or goes short, where it crosses
below. Parameters, all optional: fast (10), slow (30), direction ("both" or "long"), takeProfitLevel and stopLossLevel
(fractions of the entry price; 0 is none). lookbackCandles must be at least `slow`.
"""

import argparse
import gzip
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROTOCOL_VERSION = 1
# Every double is a whole multiple of this fraction, so sums of them are exact as whole numbers.
UNITS = 2**1074


def moving_average(values, period):
    """Mean of the last `period` values at each place, None where there are too few.

    Averages are compared, so a rounding error would invent a cross where prices stand still: sums are exact, and the one
    division is rounded correctly.
    """
    units = []
    for value in values:
        numerator, denominator = float(value).as_integer_ratio()
        units.append(numerator * (UNITS // denominator))
    means = [None] * len(values)
    total = 0
    for i, value in enumerate(units):
        total += value
        if i >= period:
            total -= units[i - period]
        if i >= period - 1:
            means[i] = total / (UNITS * period)
    return means


def crosses_above(a, b, i):
    """Whether `a` was below `b` one candle before place `i` and is above it there."""
    if i < 1 or a[i - 1] is None or b[i - 1] is None:
        return False
    return a[i - 1] < b[i - 1] and a[i] > b[i]


def decide(request):
    """The actions of each asked candle."""
    parameters = request["parameters"]
    closes = request["candles"]["close"]
    fast = moving_average(closes, parameters.get("fast", 10))
    slow = moving_average(closes, parameters.get("slow", 30))
    goes_short = parameters.get("direction", "both") == "both"
    guards = {}
    if parameters.get("takeProfitLevel", 0) > 0:
        guards["take_profit_fraction"] = parameters["takeProfitLevel"]
    if parameters.get("stopLossLevel", 0) > 0:
        guards["stop_loss_fraction"] = parameters["stopLossLevel"]

    decisions = []
    for i in range(len(closes) - request["asked"], len(closes)):
        if crosses_above(fast, slow, i):
            decisions.append([{"side": "buy", "when": "not_long", **guards}])
        elif crosses_above(slow, fast, i):
            if goes_short:
                decisions.append([{"side": "sell", "when": "not_short", **guards}])
            else:
                decisions.append([{"action": "close", "when": "long"}])
        else:
            decisions.append([])
    return decisions


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body leave in separate writes: without this the second waits for the first to be acknowledged.
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        try:
            request = json.loads(body)
            if request["version"] != PROTOCOL_VERSION:
                raise ValueError(f"protocol version {request['version']} is not spoken here")
            self.answer(200, {"version": PROTOCOL_VERSION, "decisions": decide(request)})
        except (KeyError, TypeError, ValueError) as error:
            self.answer(400, {"error": f"{type(error).__name__}: {error}"})

    def answer(self, status, content):
        body = gzip.compress(json.dumps(content, allow_nan=False).encode(), compresslevel=1)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Encoding", "gzip")
        # Says that requests may be packed, too.
        self.send_header("Accept-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """One line a request is more than anybody reads."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="SMA cross as a remote strategy")
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
