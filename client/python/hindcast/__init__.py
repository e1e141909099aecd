"""Hindcast, the backtesting service, from Python: `hc = hindcast.connect()`, then `hc.run(...)`."""

from .bases import Portfolio, Strategy
from .client import Hindcast, connect
from .errors import HindcastError, RunFailed, ServiceUnreachable
from .local import LocalService, local
from .records import Record
from .results import MonteCarlo, Optimization, Run, StressTest
from .serving import serve
from .version import VERSION

__version__ = VERSION

__all__ = [
    "Hindcast",
    "HindcastError",
    "LocalService",
    "MonteCarlo",
    "Optimization",
    "Portfolio",
    "Record",
    "Run",
    "RunFailed",
    "ServiceUnreachable",
    "Strategy",
    "StressTest",
    "connect",
    "local",
    "serve",
]
