"""Progress bars: they show what they go through and change nothing of it."""

from __future__ import annotations

from analysis.interpreter.values import Alternatives, Instance, Value

BAR = "tqdm.tqdm"


def shown_by(value: Value) -> Value:
    """What a progress bar goes through, or the one thing that several values are or show: ``bar(items)`` on rank 0 and ``items`` on the others."""
    match value:
        case Alternatives(values=values):
            shown = [shown_by(each) for each in values]
            return shown[0] if all(each is shown[0] for each in shown) else value
        case Instance() if value.cls.has_base(BAR):
            return shown_by(value.fields.get("iterable", ()))
    return value
