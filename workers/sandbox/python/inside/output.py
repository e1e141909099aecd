"""The log, the plots, and the description of errors."""
from array import array as Numbers
from collections import deque
from itertools import islice

LINE_CHARS = LAYOUT["lineCharsMax"]
FRAMES_MAX = 16


class Log:
    """Keeps lines, the first of them, and counts them where the host sees it."""

    def __init__(self):
        self.lines = []
        self._part = ""

    def add(self, line):
        room = LAYOUT["logLinesMax"] - len(self.lines)
        if room == 0:
            return
        self.lines.append(
            line[:LINE_CHARS] if room > 1 else f"further lines are dropped: a run keeps {LAYOUT['logLinesMax']}"
        )
        words[LOGGED] = len(self.lines)

    def print(self, *values, sep=" ", end="\n", file=None, flush=False):
        """Adds a line to the run's log."""
        self.add((" " if sep is None else sep).join(map(str, values)))

    # As a file, for the library's own warnings.
    def write(self, text):
        self.add(text.strip()) if text.strip() else None

    def flush(self):
        pass


class Plots:
    """Series that the strategy draws: a value a candle for each name."""

    def __init__(self):
        self.series = {}
        self.panes = []

    def plot(self, name, value, pane=None):
        """Draws a value at the deciding candle. `pane` is "price", or the name of a pane that plots share."""
        i = candle_now[0]
        if i < 0:
            raise RuntimeError("plot is for decide: it draws a value at the deciding candle")
        if value is None:
            return
        if not isinstance(value, (int, float)):
            raise TypeError(f"plot draws numbers, not {type(value).__name__}")
        if not isinstance(name, str):
            self._require("a plot's name", name)
        series = self.series.get(name)
        if series is None:
            series = self._add(name, pane)
        if series:
            series[i] = value

    def kept(self):
        return [(name, series) for name, series in self.series.items() if series]

    def _add(self, name, pane):
        self._require("a plot's name", name)
        if name == LAYOUT["plotTime"]:
            raise ValueError(f"a plot cannot be named {name}: the times of plots are")
        if pane is not None:
            self._require("a plot's pane", pane)
        if len(self.series) == LAYOUT["plotsMax"]:
            raise ValueError(f"a strategy can plot at most {LAYOUT['plotsMax']} series")
        is_kept = (len(self.panes) + 1) * columns.capacity <= LAYOUT["plotValuesMax"]
        series = Numbers("d", [nan]) * (columns.capacity if is_kept else 0)
        self.series[name] = series
        if is_kept:
            self.panes.append(pane or "")
        else:
            log.add(f"the plot {name} is not kept: a run keeps {LAYOUT['plotValuesMax']} values of all plots together")
        return series

    def _require(self, what, text):
        most = LAYOUT["plotNameCharsMax"]
        if isinstance(text, str) and 1 <= len(text) <= most and text.isprintable() and is_well_formed(text):
            return
        raise TypeError(f"{what} must be a text of 1 to {most} characters, none of them a control character")


def is_well_formed(text):
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def name_place(code, line, column):
    place = f"{LAYOUT['pythonFile']}:{line}" + ("" if column is None else f":{column + 1}")
    return place if code == "<module>" else f"{code} ({place})"


def list_places(error):
    """Places in the strategy that led to an error, the innermost first."""
    places = deque(maxlen=FRAMES_MAX)
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == LAYOUT["pythonFile"]:
            places.append((code, trace.tb_lineno, trace.tb_lasti))
        trace = trace.tb_next
    return [name_place(code.co_name, line, column_of(code, last)) for code, line, last in reversed(places)]


def column_of(code, instruction):
    position = next(islice(code.co_positions(), instruction // 2, None), None)
    return None if position is None else position[2]


def suggest(error):
    """A name of ours that an unknown one may have meant, for the end of a message."""
    if isinstance(error, NameError) and error.name in MODULES:
        return f": write import {error.name} at the top"
    if isinstance(error, NameError):
        known = [name for name in BUILTINS if not name.startswith("_")]
    elif isinstance(error, AttributeError) and type(error.obj).__module__ == "hindcast":
        known = [name for name in dir(type(error.obj)) if not name.startswith("_")]
    else:
        return ""
    by_letters = {name.replace("_", "").lower(): name for name in known}
    wrong = str(error.name)[:64].replace("_", "").lower()
    near = difflib.get_close_matches(wrong, by_letters, 1)
    return f": did you mean {by_letters[near[0]]}?" if near else ""


def describe(error):
    """An error's message and places, as JSON."""
    try:
        name = type(error).__name__
        if isinstance(error, SyntaxError) and error.filename == LAYOUT["pythonFile"]:
            places = [f"{error.filename}:{error.lineno}:{error.offset}"]
            text = error.msg
        else:
            places, text = list_places(error), str(error)
            if isinstance(error, IndexError) and text.startswith("index out of bounds on dimension"):
                text = f"{text}: a column ends with the deciding candle, and is empty in prepare"
            text = text[:LINE_CHARS] + suggest(error)
        message = f"{name}: {text[:LINE_CHARS]}" if text else name
        stack = "\n".join(places)[:4 * LINE_CHARS]
    except BaseException:
        message, stack = "an error that cannot be shown", ""
    return json.dumps({"message": message[:LINE_CHARS], "stack": stack})


log = Log()
plots = Plots()
