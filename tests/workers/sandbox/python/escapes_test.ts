/** Python scripts that try to leave their interpreter, to know more than a strategy may, or to remember. */
import { expect } from "@std/expect";
import { compilePython } from "../../../../workers/sandbox/python/compile.ts";
import { dailyCandles } from "../wasm/modules.ts";
import { playScript } from "../script/scripts.ts";
import { failureOfPython, logOfPython, openInterpreter, playPython, pythonDeciding } from "./python_scripts.ts";

/** The library behind what is refused by name: any function of ours leads to it. */
const REAL = `
def real(name):
    builtins = crosses_above.__globals__["builtins"]
    return builtins.__import__(name)
def core():
    importer = crosses_above.__globals__["sys"].modules["_frozen_importlib"].BuiltinImporter
    return importer.load_module("_pyodide_core")
`;

const REFUSED: Readonly<Record<string, string>> = {
  "import time": "time cannot be imported: a strategy has no clock",
  "from hindcast import Strategy": "hindcast cannot be imported: Strategy, Portfolio and the indicators are there",
  "import os": "os cannot be imported: a strategy reads and writes no files",
  "import os.path": "os.path cannot be imported: a strategy reads",
  "from pathlib import Path": "pathlib cannot be imported: a strategy reads and writes no files",
  "import socket": "socket cannot be imported: a strategy has no network",
  "import urllib.request": "urllib.request cannot be imported: a strategy has no network",
  "import asyncio": "asyncio cannot be imported: a strategy has no network",
  "import subprocess": "subprocess cannot be imported: a strategy has one thread",
  "import threading": "threading cannot be imported: a strategy has one thread",
  "import ctypes": "ctypes cannot be imported: a strategy sees its candles and nothing of the host",
  "import _ctypes": "_ctypes cannot be imported: a strategy sees",
  "import js": "js cannot be imported: a strategy sees its candles and nothing of the host",
  "import pyodide_js": "pyodide_js cannot be imported: a strategy sees",
  "import micropip": "micropip cannot be imported: a strategy sees",
  "from pyodide.code import run_js": "pyodide.code cannot be imported: a strategy sees",
  "import sys": "sys cannot be imported: a strategy sees",
  "import gc": "gc cannot be imported: a strategy sees",
  "import builtins": "builtins cannot be imported: a strategy sees",
  "import importlib": "importlib cannot be imported: a strategy makes no code from texts",
  "import pickle": "pickle cannot be imported: a strategy reads and writes no files",
  "import secrets": "secrets cannot be imported: a strategy has no chance",
  "import numpy as np": "numpy cannot be imported: the indicators are there without it",
  "import nowhere": "nowhere cannot be imported: there are abc, array, bisect",
  "from . import own": "a package cannot be imported: there are",
  "__import__('os')": "os cannot be imported: a strategy reads and writes no files",
  "open('/etc/passwd')": "open cannot be used: a strategy reads and writes no files",
  "eval('1')": "eval cannot be used: a strategy makes no code from texts",
  "exec('1')": "exec cannot be used: a strategy makes no code from texts",
  "compile('1', '', 'eval')": "compile cannot be used: a strategy makes no code from texts",
  "input()": "input cannot be used: a strategy sees",
  "breakpoint()": "breakpoint cannot be used: a strategy sees",
  "import random\nrandom.random()":
    "random.random cannot be used: a strategy has no chance but what follows from a seed",
  "from random import randint": "random.randint cannot be used: a strategy has no chance",
  "import random\nrandom.Random()": "missing 1 required positional argument: 'seed'",
  "import random\nrandom.Random(None)": "Random needs a seed, a number or a text, not None",
  "import random\nrandom.Random(1).seed()": "Random needs a seed, a number or a text, not None",
  "import datetime\ndatetime.datetime.now()": "datetime.now cannot be used: a strategy has no clock",
  "import datetime\ndatetime.date.today()": "date.today cannot be used: a strategy has no clock",
  "from datetime import datetime\ndatetime.utcnow()": "datetime.utcnow cannot be used: a strategy has no clock",
};

Deno.test("what a strategy may not have is refused by name, at the top and in a decision", async (t) => {
  for (const [line, reason] of Object.entries(REFUSED)) {
    await t.step(line, async () => {
      expect(await failureOfPython(line)).toContain(reason);
      expect(await failureOfPython("pass", "pass", line)).toContain(reason);
    });
  }
});

/** The library's own behaviour behind the names, once a strategy has got hold of it. */
const BEHIND: Readonly<Record<string, RegExp>> = {
  'real("js")': /ModuleNotFoundError|has left its interpreter/,
  'real("pyodide")': /ModuleNotFoundError/,
  'real("_pyodide")': /ModuleNotFoundError/,
  'real("pyodide.ffi")': /ModuleNotFoundError/,
  'real("os").open("/etc/passwd", 0)': /ModuleNotFoundError|OSError|PermissionError/,
  'real("io").open("/etc/passwd")': /OSError|PermissionError/,
  'real("io").open("/tmp/x", "w")': /OSError|PermissionError/,
  'real("posix").listdir("/")': /OSError|PermissionError/,
  'real("posix").mkdir("/x")': /OSError|PermissionError/,
  'real("posix").urandom(4)': /OSError|NotImplementedError|PermissionError/,
  'real("posix").kill(1, 9)': /OSError|PermissionError|AttributeError|ProcessLookup|has left its interpreter/,
  'real("posix").fork()': /OSError|PermissionError|AttributeError|has left its interpreter/,
  'real("posix").system("ls")': /AttributeError|OSError|has left its interpreter/,
  'real("posix")._exit(0)': /has left its interpreter|has broken its interpreter/,
  'real("posix").abort()': /has left its interpreter|has broken its interpreter/,
  'real("_socket").socket()': /ModuleNotFoundError|OSError|PermissionError|has left its interpreter/,
  'real("_thread").start_new_thread(print, ())': /RuntimeError|ModuleNotFoundError|has left its interpreter/,
  'real("_ctypes").dlopen("libc.so", 0)': /ModuleNotFoundError|OSError|AttributeError|has left its interpreter/,
  'real("_imp").create_builtin(real("_imp"))': /ModuleNotFoundError|AttributeError/,
  'crosses_above.__globals__["sys"].exit(3)': /SystemExit: 3/,
  'real("time").time()': /OSError|PermissionError/,
  'real("time").monotonic()': /OSError|PermissionError/,
  'real("time").perf_counter()': /OSError|PermissionError|RuntimeError/,
  'real("time").process_time()': /RuntimeError|OSError/,
  'real("time").sleep(1)': /OSError|PermissionError|has left its interpreter/,
  "core().create_proxy([])": /Error|has left its interpreter/,
  "core().to_js([1])": /Error|has left its interpreter/,
  'core().run_js("1")': /Error|has left its interpreter/,
  "[each() for each in vars(core()).values() if callable(each)]": /Error|has left its interpreter/,
  'real("posix").posix_spawn("/bin/sh", [], {})': /AttributeError|OSError|has left its interpreter/,
  'real("posix").unlink("/lib/python314.zip")': /OSError|PermissionError/,
};

Deno.test("the library behind the names leads nowhere", async (t) => {
  for (const [line, outcome] of Object.entries(BEHIND)) {
    await t.step(line, async () => {
      expect(await failureOfPython(line, "pass", REAL)).toMatch(outcome);
    });
  }
});

Deno.test("no object of JavaScript is in the interpreter", async () => {
  const lines = `if i == 0:
    every = real_gc.get_objects()
    print(len([each for each in every if "Js" in type(each).__name__ and "Json" not in type(each).__name__]))
    print([name for name in real_sys.modules if "js" == name or "pyodide" in name])`;
  const above = `real_sys = crosses_above.__globals__["sys"]; real_gc = crosses_above.__globals__["gc"]`;
  expect(await logOfPython(lines, "pass", above)).toEqual(["0", "[]"]);
  // The types are CPython's memory; without an object of one they do nothing.
  expect(
    await failureOfPython(
      `for each in type.__subclasses__(object):
    if each.__name__.startswith("Js"): each()
int("none")`,
    ),
  ).toMatch(/TypeError|ValueError|has left its interpreter/);
});

Deno.test("ids, hashes and sets are the same in each run", async () => {
  const lines = `if i == 4:
    print(id(object()), hash("a"), {"b", "c", "a", "d"}, hash(object()), id(self))`;
  const [first, second] = [await logOfPython(lines), await logOfPython(lines)];
  expect(first).toEqual(second);
  expect(first.length).toBe(1);
});

Deno.test("chance follows from a seed", async () => {
  const lines = "if i == 0: print(self.chance.random(), self.chance.randint(1, 6), self.chance.choice('abc'))";
  const play = (seed: string) => logOfPython(lines, `from random import Random\nself.chance = Random(${seed})`);
  const seven = await play("7");
  expect(seven).toEqual(await play("7"));
  expect(seven).not.toEqual(await play("8"));
});

Deno.test("nothing of one run is left for the next one in the same interpreter", async () => {
  const python = openInterpreter();
  const above = `import math, json
from collections import Counter`;
  const lines =
    `if i == 0: print(getattr(math, "left", None), getattr(Counter, "left", None), len(Strategy.__subclasses__()), id(self))
math.left = Counter.left = json.left = candles.close
crosses_above.__globals__["REMEMBERED"] = list(candles.close)
self.__class__.left = i`;
  const script = compilePython(pythonDeciding(lines, "pass", above), python);
  const logs: (readonly string[])[] = [];
  for (let run = 0; run < 3; run++) {
    const { log } = await playScript("", dailyCandles([10, 11, 12, 13]), {}, () => Promise.resolve(script));
    logs.push(log);
  }
  expect(logs[0]![0]).toMatch(/^None None 1 \d+$/);
  expect([logs[1], logs[2]]).toEqual([logs[0], logs[0]]);
});

Deno.test("candles to come are nowhere in the interpreter's memory", async () => {
  const python = openInterpreter();
  const script = compilePython(pythonDeciding("if i == 2: raise ValueError('stop')", "self.c = candles.close"), python);
  const closes = [10, 11, 12, 12345.678, 54321.876];
  await expect(playScript("", closes, {}, () => Promise.resolve(script))).rejects.toThrow(/stop/);
  const has = (value: number) => {
    const { doubles } = python;
    return doubles.includes(value);
  };
  expect([has(12), has(12345.678), has(54321.876)]).toEqual([true, false, false]);
});

/** Values that a strategy is given, and what it gets from them. */
const VALUES: Readonly<Record<string, string>> = {
  "the candles": "candles",
  "a column": "candles.close",
  "a slice of a column": "candles.close[:1]",
  "an indicator's column": "self.mean",
  "the account": "account",
  "the orders": "orders",
  "a method of the orders": "orders.buy",
  "the trades": "orders.trades",
  "the closed trades": "account.closed_trades",
  "an indicator": "sma",
  "utc's answer": "utc(0)",
  "the base class": "Strategy",
  "the strategy": "self",
  "print": "print",
  "an error of ours": "caught(lambda: orders.close(-2))",
  "an error of the runtime": "caught(lambda: 1 / 0)",
  "an error of the stack": "caught(lambda: (lambda f: f(f))(lambda f: f(f)))",
  "an error of memory": "caught(lambda: 'a' * (1 << 40))",
  "a refused import": "caught(lambda: __import__('js'))",
  "the frames behind an error": "caught(lambda: orders.close(-2)).__traceback__.tb_frame.f_back",
  "a generator's frame": "(n for n in candles.close).gi_frame",
  "a function's globals": "crosses_above.__globals__",
  "a closure": "orders.buy.__closure__ if hasattr(orders.buy, '__closure__') else orders.buy.__func__.__closure__",
  "the classes of all": "type.__subclasses__(object)",
};
/** Looks for an object of JavaScript, or for a module of the host, behind a value. */
const LOOK = `
def caught(act):
    try: act()
    except BaseException as error: return error
def look(first, most=20000):
    gc, seen, left = crosses_above.__globals__["gc"], set(), [first]
    while left and len(seen) < most:
        each = left.pop()
        if id(each) in seen: continue
        seen.add(id(each))
        name = type(each).__name__
        if name.startswith("Js") and "Json" not in name and "JSON" not in name: return name
        if getattr(each, "__name__", None) in ("js", "pyodide", "pyodide_js", "_pyodide"): return each.__name__
        left.extend(gc.get_referents(each))
    return "contained" if len(seen) > 0 else "nothing"
`;

Deno.test("nothing that a strategy can reach leads to the host", async (t) => {
  await t.step("the search finds what it looks for", async () => {
    const lines = 'class JsProxy: pass\nif i == 1: print(look({"deep": [(JsProxy(),)]}))';
    expect(await logOfPython(lines, "pass", LOOK)).toEqual(["JsProxy"]);
  });
  for (const [name, value] of Object.entries(VALUES)) {
    await t.step(name, async () => {
      const lines = `if i == 1: print(look(${value}))`;
      expect(await logOfPython(lines, "self.mean = sma(candles.close, 2)", LOOK)).toEqual(["contained"]);
    });
  }
});

/** Lines of `decide` by which a strategy takes over what it finds. Its run may fail; the host may not. */
const OURS = (name: string) => `crosses_above.__globals__['${name}']`;
const TAKEOVERS: Readonly<Record<string, string>> = {
  "a method of the orders": "orders.buy = None",
  "the words": `${OURS("words")}[0] = 99999`,
  "the wish for more": `${OURS("words")}[${OURS("WANTED")}] = 1`,
  "the tables": `${OURS("tables")}[:] = bytes(len(${OURS("tables")}))`,
  "the columns": `${OURS("columns")}.views[:] = [1]\ncandles.close`,
  "the log": `${OURS("log")}.lines.clear(); print(1); ${OURS("log")}.lines.clear()`,
  "a log of no texts": `${OURS("log")}.lines.append(7); print(1)`,
  "json": `${OURS("json")}.dumps = lambda value: 'x' * 9000000`,
  "a json that fails": `${OURS("json")}.dumps = ${OURS("json")}.loads = None`,
  "the account": "account.cash = 1e9; account.quantity = -5",
  "the newest candle": `${OURS("candle_now")}[0] = 9; plot('x', 1)`,
  "all names of ours": "crosses_above.__globals__.clear()",
  "len and print": `${OURS("builtins")}.len = None; ${OURS("builtins")}.print = None`,
  "the modules": `${OURS("sys")}.modules.clear()`,
  "the limit of calls": `${OURS("sys")}.setrecursionlimit(10**6)\nf = lambda g: g(g)\nf(f)`,
  "the hook of errors": `${OURS("sys")}.excepthook = ${OURS("sys")}.unraisablehook = None\n1 / 0`,
  "a trace of every line": `${OURS("sys")}.settrace(lambda *all: 1 / 0)`,
  "no collection of garbage": `${OURS("gc")}.freeze(); ${OURS("gc")}.disable()`,
  "an error that is no text": "class E(Exception):\n    def __str__(self): return 7\nraise E()",
  "an error that fails": "class E(Exception):\n    def __str__(self): raise E()\n    __repr__ = __str__\nraise E()",
  "a group of errors": "raise ExceptionGroup('x' * 9999, [ValueError(n) for n in range(999)])",
  "an end": "raise SystemExit(0)",
  "an interruption": "raise KeyboardInterrupt()",
  "a class that is a number": "class N(float):\n    def __float__(self): return self\norders.buy(size=N('nan'))",
  "a message of control characters": 'raise ValueError("\\x1b[31m\\n\\x00")',
};

Deno.test("a strategy that takes over what it finds fails alone", async (t) => {
  for (const [name, lines] of Object.entries(TAKEOVERS)) {
    await t.step(name, async () => {
      const ended = await failureOfPython(lines);
      expect(ended).toMatch(/^none$|^Cannot /);
      expect([ended.length < 2000, /\p{Cc}/u.test(ended)]).toEqual([true, false]);
    });
  }
  const rich = await playPython(pythonDeciding("account.cash = 1e9\norders.buy(size=1)"), [10, 11, 12, 13]);
  expect(rich.result.balances.cash[0]).toBeLessThanOrEqual(10_000);
});
