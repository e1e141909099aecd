"""The functions that the host calls, in the order of MACHINE. They return texts, numbers or nothing, and never throw."""


class Strategy:
    """A strategy: class attributes with defaults are its parameters."""

    # Length of a candle, and the index of the range's first one; the host sets them.
    timeframe_ms = 0
    first_index = 0
    # Candles up to and including the first decision's.
    warmup = 1

    def prepare(self, candles):
        """Asks for indicators, once, before the first decision."""

    def decide(self, i, candles, account, orders):
        """Called at the close of each candle."""
        raise NotImplementedError("the strategy has no decide(self, i, candles, account, orders)")

    def on_fill(self, fill):
        """Called before `decide` for each fill since the last decision."""

    def on_close(self, trade):
        """Called for each trade that a fill has closed, or a part of it."""


class Portfolio:
    """A strategy that decides on many markets at once."""

    timeframe_ms = 0
    # Candles that at least one market has at the first decision.
    warmup = 1
    # The period after which it is asked: day, week, month or quarter; None: at each close.
    every = None

    def prepare(self, markets):
        """Asks for indicators of the markets' columns, once, before the first decision."""

    def decide(self, now, markets, account, orders):
        """Called at the first close of each period."""
        raise NotImplementedError("the strategy has no decide(self, now, markets, account, orders)")

    def on_fill(self, fill):
        """Called before `decide` for each fill since the last decision, of any market."""

    def on_close(self, trade):
        """Called for each trade that a fill has closed, or a part of it."""


BASES = (Strategy, Portfolio)
OWN = frozenset(name for base in BASES for name in vars(base) if not name.startswith("__")) - {"every"}
KINDS = {bool: "boolean", int: "integer", float: "number", str: "string"}
MISSPELT = re.compile(r"(warm_?up_?\w*|prep\w*|deci\w*|on_?(candle|bar|fill\w*|order|trade|close\w*)|next|init)", re.IGNORECASE)
ALONE = "a Portfolio decides on many markets: the run needs instruments or a universe"
REQUIRED = object()


class Program:
    """The strategy's text, its class and the one instance of it."""

    def __init__(self):
        self.code = None
        self.kind = None
        self.strategy = None

    def define(self):
        """Runs the strategy's own lines."""
        namespace = {"__name__": "strategy", "__builtins__": BUILTINS}
        exec(self.code, namespace)
        kinds = list(dict.fromkeys(
            each for each in namespace.values()
            if isinstance(each, type) and issubclass(each, BASES) and each not in BASES
        ))
        leaves = [each for each in kinds if not any(other is not each and issubclass(other, each) for other in kinds)]
        if len(leaves) != 1:
            found = f"it defines {', '.join(each.__name__ for each in leaves)}" if leaves else "it defines none"
            bases = "`class Name(Strategy):` or `class Name(Portfolio):`"
            raise TypeError(f"a script is one class that begins with {bases}, and {found}")
        self.kind = leaves[0]
        for name in vars(self.kind):
            if name not in OWN and MISSPELT.fullmatch(name):
                raise TypeError(f"{name} is not known: use warmup, prepare, decide, on_fill and on_close")

    def is_portfolio(self):
        return issubclass(self.kind, Portfolio)

    def create(self, given, timeframe_ms, first_index):
        self.define()
        if self.is_portfolio():
            raise TypeError(ALONE)
        self.make(given, timeframe_ms, {"first_index": first_index})

    def create_portfolio(self, given, timeframe_ms):
        self.define()
        self.make(given, timeframe_ms, {})
        if self.strategy.every is not None and self.strategy.every not in AT["periods"]:
            raise ValueError(f"every must be one of {', '.join(AT['periods'])}, or None, not {show(self.strategy.every)}")

    def make(self, given, timeframe_ms, series):
        strategy = self.strategy = self.kind.__new__(self.kind)
        strategy.timeframe_ms = timeframe_ms
        for name, value in series.items():
            setattr(strategy, name, value)
        for name, value in self.read_parameters(given).items():
            setattr(strategy, name, value)
        strategy.__init__()
        warmup = self.warmup()
        if not isinstance(warmup, int) or isinstance(warmup, bool) or not 1 <= warmup <= LAYOUT["warmupMax"]:
            raise ValueError(
                f"warmup must be a whole number of candles from 1 to {LAYOUT['warmupMax']}, not {show(warmup)}"
            )

    def warmup(self):
        warmup = self.strategy.warmup
        return warmup() if callable(warmup) else warmup

    def expect_fills(self):
        """Notes that the strategy is told of fills, once its reads are known."""
        base = Portfolio if self.is_portfolio() else Strategy
        is_told = self.kind.on_fill is not base.on_fill or self.kind.on_close is not base.on_close
        if is_told and columns.list_bits & 16 == 0:
            want()

    def read_parameters(self, given):
        declared = declare(self.kind)
        # The client's remarks.
        given = {name: value for name, value in given.items() if not name.startswith("x-")}
        for name in given:
            if name not in declared:
                near = difflib.get_close_matches(name, declared, 1)
                hint = f": did you mean {near[0]}?" if near else f": it has {', '.join(declared) or 'none'}"
                raise TypeError(f"{name} is no parameter of {self.kind.__name__}{hint}")
        missing = [name for name, (_, default) in declared.items() if default is REQUIRED and name not in given]
        if missing:
            raise TypeError(f"the parameter {missing[0]} is missing: it has no default")
        return {name: read_parameter(name, rule, given[name]) for name, (rule, _) in declared.items() if name in given}


def read_parameter(name, rule, value):
    kind = rule.get("type")
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    if kind == "number" and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    fits = KINDS.get(type(value)) == kind and value in rule.get("enum", (value,))
    if fits or value is None and rule.get("nullable"):
        return value
    wanted = f"one of {', '.join(map(show, rule['enum']))}" if "enum" in rule else f"of type {kind}"
    raise TypeError(f"the parameter {name} must be {wanted}, not {show(value)}")


def declare(kind):
    """The parameters of a class: their rules and defaults by name, those of its bases first."""
    declared = {}
    for each in reversed(kind.__mro__):
        if each is object or each in BASES:
            continue
        notes = getattr(each, "__annotations__", {})
        for name in dict.fromkeys([*notes, *vars(each)]):
            is_period = name == "every" and name not in notes and issubclass(kind, Portfolio)
            if name.startswith("_") or name in OWN or is_period:
                continue
            default = vars(each).get(name, REQUIRED)
            rule = rule_of(notes.get(name), default)
            if rule is not None:
                declared[name] = (rule, default)
    return declared


def rule_of(note, default):
    """The rule of a parameter; None: the attribute is none."""
    choices = typing.get_args(note) if typing.get_origin(note) is typing.Literal else ()
    if choices:
        return {"type": KINDS.get(type(choices[0])), "enum": list(choices)}
    kinds = [each for each in typing.get_args(note) or (note,) if each in KINDS]
    is_nullable = type(None) in typing.get_args(note)
    if kinds:
        return {"type": KINDS[kinds[0]], **({"nullable": True} if is_nullable else {})}
    kind = KINDS.get(type(default))
    return None if kind is None else {"type": kind}


def to_schema(kind):
    """The parameter_schema of a class."""
    declared = declare(kind)
    properties = {}
    for name, (rule, default) in declared.items():
        property = {key: value for key, value in rule.items() if key != "nullable"}
        if rule.get("nullable"):
            property["type"] = [property["type"], "null"]
        properties[name] = property if default is REQUIRED else {**property, "default": default}
    required = [name for name, (_, default) in declared.items() if default is REQUIRED]
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, **({"required": required} if required else {})}


def attempt(act):
    """What it threw, described; None: nothing."""
    try:
        act()
    except Wanted:
        pass
    except BaseException as error:
        return describe(error)


def compile_text(source):
    def act():
        program.code = compile(source, LAYOUT["pythonFile"], "exec", dont_inherit=True)
    return attempt(act)


def start(parameters, timeframe_ms, first_index):
    return attempt(lambda: program.create(json.loads(parameters), timeframe_ms, first_index))


def read_warmup():
    try:
        return str(program.warmup())
    except BaseException:
        return "1"


def prepare(rows, bits, inputs):
    def act():
        columns.list_bits = bits >> len(CANDLE_COLUMNS)
        columns.open(rows, bits, candles, json.loads(inputs))
        refuse_answer("prepare", program.strategy.prepare(candles))
        program.expect_fills()
    failure = attempt(act)
    columns.close()
    return failure


def check_answer(answer):
    return attempt(lambda: refuse_answer("decide", answer))


def read_requests():
    return json.dumps(columns.requests)


def read_shown():
    return json.dumps(columns.numbers)


def read_decider():
    """The function of decisions and its arguments behind `i`."""
    return (program.strategy.decide, candles, account, orders)


def has_score():
    """Something if the strategy's class says how good an entry would be."""
    return "yes" if callable(getattr(program.kind, "score", None)) else None


def read_score(i):
    """The score at a candle, as a number's text, or what it threw, described."""
    try:
        score = program.strategy.score(i, candles)
        if not isinstance(score, (int, float)):
            raise TypeError(f"score must return a number, not {type(score).__name__}")
        return repr(float(score))
    except Wanted:
        return "nan"
    except BaseException as error:
        return describe(error)


def read_line(number):
    # As JSON, since a text of Python may have half of a surrogate pair.
    return json.dumps(log.lines[number])


def read_plots():
    return json.dumps({"names": [name for name, _ in plots.kept()], "panes": plots.panes})


def read_plot(number):
    return plots.kept()[number][1]


def read_schema():
    try:
        schema = json.dumps(to_schema(program.kind))
        return schema if len(schema) <= LAYOUT["schemaCharsMax"] else "null"
    except BaseException:
        return "null"


def read_peeks():
    return json.dumps(Watched.places)


def take_fills(count):
    return attempt(lambda: fills.take(count))


def report_fills():
    return attempt(lambda: fills.report(program.strategy))


def take_in():
    take_account()


def is_portfolio():
    """Something if the script's class is a Portfolio; None: it is not, or its lines fail, which they do again for a strategy."""
    try:
        program.define()
    except BaseException:
        return None
    return "yes" if program.is_portfolio() else None


def start_portfolio(parameters, timeframe_ms, markets, is_trial):
    def act():
        many.start(json.loads(markets), is_trial == 1)
        program.create_portfolio(json.loads(parameters), timeframe_ms)
    return attempt(act)


def read_every():
    return program.strategy.every or ""


def read_state():
    return many.bytes


def prepare_portfolio(rows, bits, inputs, marks):
    def act():
        columns.list_bits = bits >> len(CANDLE_COLUMNS)
        # Plots have a row for each mark.
        columns.capacity = marks
        names = json.loads(inputs)
        for each, market, count in zip(many.columns, many.markets, json.loads(rows)):
            each.open(count, bits, market._candles, names)
        refuse_answer("prepare", program.strategy.prepare(many.markets))
        program.expect_fills()
    failure = attempt(act)
    for each in many.columns:
        each.close()
    return failure


def read_market_requests(market):
    return json.dumps(many.columns[market].requests)


def read_market_shown(market):
    return json.dumps(many.columns[market].numbers)


def read_market_views(market):
    return many.columns[market].views


def read_book(market):
    return many.books[market][1].bytes


def read_tag_of_targets():
    return many.tag


def decide_portfolio(now):
    def act():
        many.begin()
        fills.report(program.strategy)
        refuse_answer("decide", program.strategy.decide(now, many.markets, MANY_ACCOUNT, MANY_ORDERS))
        many.end()
    return attempt(act)


def make_another():
    """The functions of a machine of its own, for another market of the run."""
    names = {"__name__": "hindcast", "LAYOUT": LAYOUT, "CODES": CODES, "WHEELS": WHEELS}
    for code in CODES:
        exec(code, names)
    return names["MACHINE"]


program = Program()
BUILTINS = make_builtins({
    **INDICATORS, "crosses_above": crosses_above, "crosses_below": crosses_below, "resample": resample, "plot": plots.plot, "print": log.print,
    "utc": utc, "Strategy": Strategy, "Portfolio": Portfolio, "nan": nan,
})
MODULES["random"] = make_random()
stop_clocks()
random.seed(0)
warnings.simplefilter("ignore")
sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = log
sys.unraisablehook = lambda unraisable: log.add(f"ignored {type(unraisable.exc_value).__name__} in __del__")
MACHINE = (
    compile_text, start, read_warmup, prepare, read_requests, read_shown, read_decider, check_answer, describe, read_line,
    read_plots, read_plot, read_schema, take_in, columns.views, tables.bytes, equity_now, candle_now,
    make_another, take_fills, report_fills, is_portfolio, start_portfolio, read_every, read_state, prepare_portfolio,
    read_market_requests, read_market_shown, read_market_views, read_book, read_tag_of_targets, decide_portfolio,
    has_score, read_score, read_peeks,
)
