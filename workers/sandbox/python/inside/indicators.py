"""The indicators: the host computes them outside of this memory, and shows their values candle by candle."""
from collections import namedtuple


def find_columns(values):
    """The columns of the market whose column comes first among the values."""
    owners = (Columns.owners[id(value)] for value in values if id(value) in Columns.owners)
    return next(owners, many.columns[0] if many.columns else columns)


def read_input(of, what, value):
    number = of.number_of.get(id(value))
    if number is not None:
        return number
    if id(value) in Columns.owners:
        raise TypeError(f"{what} is a column of another market: an indicator takes those of one")
    if is_number(value):
        return {"constant": float(value)}
    kind = "a list: one of your own belongs into decide" if isinstance(value, list) else type(value).__name__
    raise TypeError(f"{what} must be a column of candles or of an indicator, or a number, not {kind}")


def read_rule(indicator, name, is_period, value):
    if is_period and isinstance(value, float) and value.is_integer():
        value = int(value)
    most = LAYOUT["periodMax"]
    if is_number(value) and (not is_period or isinstance(value, int) and 1 <= value <= most):
        return value
    rule = f"a whole number of candles from 1 to {most}" if is_period else "a finite number"
    raise ValueError(f"{indicator}: {name} must be {rule}, not {show(value)}")


def read_text(what, value):
    if isinstance(value, str) and 1 <= len(value) <= 64:
        return value
    raise TypeError(f"{what} must be a text of 1 to 64 characters, not {show(value)}")


def bind(name, fields, args, kwargs):
    """The arguments of a call in their order."""
    if len(args) > len(fields):
        raise TypeError(f"{name} takes {', '.join(fields)}, and {len(args)} arguments are given")
    given = dict(zip(fields, args))
    for key, value in kwargs.items():
        if key not in fields or key in given:
            raise TypeError(f"{name} takes {', '.join(fields)}: {key} is not one of them, or is given twice")
        given[key] = value
    missing = [field for field in fields if field not in given]
    if missing:
        raise TypeError(f"{name} takes {', '.join(fields)}: {', '.join(missing)} is missing")
    return [given[field] for field in fields]


def make_indicator(rule):
    name = snake(rule["name"])
    inputs = [snake(each) for each in rule["inputs"]]
    numbers = [(snake(each["name"]), each["isPeriod"]) for each in rule["numbers"]]
    texts = [snake(each) for each in rule["texts"]]
    fields = inputs + [each for each, _ in numbers] + texts
    outputs = [snake(each) for each in rule["outputs"]]
    lines = namedtuple(name, outputs) if outputs else None

    def indicator(*args, **kwargs):
        values = bind(name, fields, args, kwargs)
        of = find_columns([] if isinstance(values[0], list) else values)
        if not of.is_open:
            if isinstance(values[0], list):
                ruled = [read_rule(name, *each, value) for each, value in zip(numbers, values[len(inputs):])]
                newest = own_series.newest(name, values[0], ruled)
                if newest is not None:
                    return lines(*newest) if lines else newest
            raise RuntimeError(f"{name} is for prepare: keep its column in self, and read it in decide")
        read = [read_input(of, f"{name}: {field}", value) for field, value in zip(inputs, values)]
        ruled = [read_rule(name, *each, value) for each, value in zip(numbers, values[len(inputs):])]
        named = [read_text(f"{name}: {field}", values[fields.index(field)]) for field in texts]
        made = of.request({"name": rule["name"], "inputs": read, "numbers": ruled, "texts": named}, len(outputs))
        return lines(*made) if lines else made[0]

    indicator.__name__ = indicator.__qualname__ = name
    return indicator


INDICATORS = {snake(rule["name"]): make_indicator(rule) for rule in LAYOUT["indicators"]}


def crosses_above(a, b, i):
    """True if `a` is above `b` at candle `i`, and was below when they last differed."""
    if not a[i] > b[i]:
        return False
    before = i - 1
    while before >= 0 and a[before] == b[before]:
        before -= 1
    return before >= 0 and a[before] < b[before]


def crosses_below(a, b, i):
    """True if `a` is below `b` at candle `i`, and was above when they last differed."""
    return crosses_above(b, a, i)
