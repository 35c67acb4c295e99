"""What a value is where several ways meet."""

from __future__ import annotations

from analysis.certainty import MAX_ALTERNATIVES
from analysis.interpreter.values import MISSING, Alternatives, External, HostValue, Instance, Symbol, Value

#: The role of a value that one rank sent to the others: where they take it and the sender keeps its own, all have the same.
SENT = "sent"
#: The role of a value that some ranks have, while others have None.
LACKING = "lacking on some ranks"


def same(left: Value, right: Value) -> bool:
    """Whether two values are one: identical, or equal constants of one type."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, (int, float, str, bytes, bool, complex, External)):
        return bool(left == right)
    if isinstance(left, tuple):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    return False


def join(left: Value, right: Value, *, divided: bool = False) -> Value:
    """A value that may be either; unknown once there are more than eight. ``divided``: some ranks have one, some the other."""
    if same(left, right):
        return left
    if divided:
        sent = next((value for value in (left, right) if _was_sent(value)), None)
        if sent is not None:
            return sent
        return _there_or_not(_join(left, right)) if left is None or right is None else _divided(_join(left, right))
    return _join(left, right)


def _was_sent(value: Value) -> bool:
    """Whether one rank sent it to the others, as its role says or what it is by itself."""
    asked = getattr(type(value), "was_sent", None)
    return (isinstance(value, Symbol) and value.role == SENT) or (asked is not None and asked(value))


def _there_or_not(value: Value) -> Value:
    """The same value, which some ranks have and the others lack."""
    if not isinstance(value, Symbol):
        return _divided(value)
    made = Symbol(value.why, value.span, value.stamp, rank_varying=True)
    made.role = LACKING
    return made


def _divided(value: Value) -> Value:
    """The same value, known to differ between ranks."""
    match value:
        case Alternatives(values=values):
            return Alternatives(values, rank_varying=True)
        case Symbol(rank_varying=False):
            return Symbol(value.why, value.span, value.stamp, rank_varying=True)
        case HostValue():
            differing = getattr(type(value), "differing", None)
            return value if differing is None else differing(value)
    return value


def _join(left: Value, right: Value) -> Value:
    if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
        return tuple(join(a, b) for a, b in zip(left, right, strict=True))
    merged = _merged(left, right)
    if merged is not MISSING:
        return merged
    found: list[Value] = []
    for value in (*alternatives_of(left), *alternatives_of(right)):
        if isinstance(value, Symbol):
            return value
        if not any(same(value, other) for other in found):
            found.append(value)
    if len(found) > MAX_ALTERNATIVES:
        return Symbol("one of many values", None)
    return found[0] if len(found) == 1 else Alternatives(tuple(found))


def _merged(left: Value, right: Value) -> Value:
    """One value for both where they say so: a domain's values that can be joined, a wrapper and what it wraps; else ``MISSING``."""
    joined = getattr(type(left), "joined", None) if isinstance(left, HostValue) and type(left) is type(right) else None
    if joined is not None:
        return joined(left, right)
    for wrapper, inner in ((left, right), (right, left)):
        if isinstance(wrapper, Instance) and wrapper.cls.find("wraps") is True and any(held is inner for held in wrapper.fields.values()):
            return wrapper
    return MISSING


def alternatives_of(value: Value) -> tuple[Value, ...]:
    """The values it may be."""
    return value.values if isinstance(value, Alternatives) else (value,)
