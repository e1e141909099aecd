"""The world of a strategy: builtins without clock, chance, files and code from texts, and the modules that may be imported."""
import abc, array, bisect, builtins, cmath, collections, collections.abc, contextlib, copy, dataclasses, datetime, decimal
import difflib, enum, fractions, functools, gc, heapq, itertools, math, numbers, operator, random, re, statistics, string
import sys, textwrap, typing, warnings
# These are imported by functions of those above.
import _strptime, calendar, locale, stat, token, tokenize, linecache, traceback
from types import ModuleType

CLOCK = "a strategy has no clock: candles.time has the time, and utc(time) its parts"
CHANCE = "a strategy has no chance but what follows from a seed: use random.Random(self.seed), with a parameter seed"
FILES = "a strategy reads and writes no files"
NETWORK = "a strategy has no network"
CODE = "a strategy makes no code from texts"
THREADS = "a strategy has one thread"
HOST = "a strategy sees its candles and nothing of the host"
MODULES = {
    name: sys.modules[name]
    for name in (
        "abc array bisect cmath collections collections.abc contextlib copy dataclasses datetime decimal enum fractions "
        "functools heapq itertools json math numbers operator re statistics string textwrap typing"
    ).split()
} | WHEELS
REASONS = {
    CLOCK: "time sched timeit zoneinfo calendar",
    CHANCE: "secrets uuid",
    FILES: "os io pathlib shutil tempfile glob fileinput sqlite3 pickle shelve dbm csv mmap zipfile tarfile posix",
    NETWORK: "socket ssl http urllib asyncio ftplib smtplib select selectors requests aiohttp httpx",
    CODE: "code codeop ast dis importlib runpy marshal inspect types imp pkgutil",
    THREADS: "threading _thread multiprocessing concurrent subprocess signal queue",
    HOST: "js pyodide pyodide_js _pyodide micropip ctypes _ctypes sys gc platform builtins site traceback",
    "Strategy, Portfolio and the indicators are there without it": "hindcast",
    "the indicators are there without it, and statistics, math and array": "numpy pandas scipy talib sklearn",
}
REASON_OF = {name: reason for reason, names in REASONS.items() for name in names.split()}


def refuse(name, reason):
    def refused(*_args, **_kwargs):
        raise RuntimeError(f"{name} cannot be used: {reason}")
    refused.__name__ = refused.__qualname__ = name
    return refused


def import_module(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and name in MODULES:
        if name == "random":
            # The error of a name that is not there, which the interpreter would hide.
            for each in fromlist or ():
                getattr(MODULES[name], each)
        return MODULES[name if fromlist else name.partition(".")[0]]
    root = name.partition(".")[0]
    reason = REASON_OF.get(root) or f"there are {', '.join(sorted(MODULES))}"
    raise ImportError(f"{name or 'a package'} cannot be imported: {reason}")


class Random(random.Random):
    """Numbers that follow from a seed."""

    def __new__(cls, seed, *args):
        return super().__new__(cls)

    def __init__(self, seed):
        self.seed(seed)

    def seed(self, a=None, version=2):
        if a is None or not isinstance(a, (int, float, str, bytes)):
            raise TypeError(f"Random needs a seed, a number or a text, not {show(a)}")
        super().seed(a, version)


def make_random():
    module = ModuleType("random", "Numbers that follow from a seed.")
    module.Random = Random

    def missing(name):
        raise AttributeError(f"random.{name} cannot be used: {CHANCE}")
    module.__getattr__ = missing
    return module


def stop_clocks():
    """Takes `now` and `today` from the library's own classes of dates."""
    for kind, names in ((datetime.datetime, ("now", "utcnow", "today")), (datetime.date, ("today",))):
        [methods] = gc.get_referents(kind.__dict__)
        for name in names:
            methods[name] = staticmethod(refuse(f"{kind.__name__}.{name}", CLOCK))
    sys._clear_internal_caches()


EPOCH = datetime.datetime(1970, 1, 1)
UtcParts = collections.namedtuple("UtcParts", "year month day weekday hour minute")


def utc(time):
    """The parts of a time in milliseconds; Sunday is weekday 0."""
    at = EPOCH + datetime.timedelta(milliseconds=time)
    return UtcParts(at.year, at.month, at.day, at.isoweekday() % 7, at.hour, at.minute)


REFUSED = {
    "open": FILES, "input": HOST, "eval": CODE, "exec": CODE, "compile": CODE, "breakpoint": HOST, "exit": HOST,
    "quit": HOST, "help": HOST, "copyright": HOST, "credits": HOST, "license": HOST, "__loader__": HOST, "__spec__": HOST,
}


def make_builtins(added):
    """The builtins of a strategy's own lines."""
    names = {name: value for name, value in vars(builtins).items() if name not in REFUSED}
    names.update({name: refuse(name, reason) for name, reason in REFUSED.items() if not name.startswith("__")})
    names.update(added)
    names["__import__"] = import_module
    return names
