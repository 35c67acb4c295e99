"""A domain that knows no library: what Python alone means."""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.interpreter.exceptions import guest_error
from analysis.interpreter.machine import Machine
from analysis.interpreter.values import MISSING, External, Module, Symbol
from analysis.snapshot import Snapshot


class Bounded:
    def __init__(self, rounds):
        self.rounds = rounds

    def another(self, done):
        return done < self.rounds


@dataclass
class PlainDomain:
    rounds: int = 50
    tracks_places: bool = False
    watches_stores: bool = False
    stores: list = field(default_factory=list)

    def lookup(self, dotted):
        return MISSING

    def guest_source(self, dotted):
        return None

    def decide(self, machine, condition, span):
        return None

    def trainings(self):
        return 0

    def plan_loop(self, machine, span, length):
        return Bounded(self.rounds)

    def unknown_items(self, machine, value, span):
        yield from [Symbol(f"item of {value!r}", span, machine.stamp)] * 2

    def brought(self, machine, value, span):
        return []

    def unknown(self, machine, why, span):
        return Symbol(why, span, machine.stamp)

    def setting(self, machine, key, value, span):
        return value

    def unknown_attribute(self, machine, value, name, span):
        if isinstance(value, Symbol):
            return value.part(f".{name}")
        if isinstance(value, External):
            return External(f"{value.dotted}.{name}")
        raise guest_error(AttributeError(name), span)

    def call_unknown(self, machine, callee, args, kwargs, span):
        return Symbol(f"{callee!r}()", span, machine.stamp)

    def before_call(self, machine, span):
        pass

    def stored(self, machine, holder, key, value, span):
        self.stores.append((holder, key, value))
        return value

    def discarded(self, machine, value, span):
        pass

    def collected(self, machine, made, span):
        return made

    def modulo(self, machine, left, right, span):
        return MISSING

    def threshold(self, machine, left, right, span, *, by_size):
        return left, right

    def host_failed(self, machine, callee, error, span):
        raise guest_error(error, span)


def run(files, domain=None, budget=200_000):
    """Run ``main.py`` of ``files`` (or one text) and give its globals and the machine."""
    texts = {"main.py": files} if isinstance(files, str) else files
    machine = Machine(Snapshot.of({path: text.encode() for path, text in texts.items()}), domain or PlainDomain(), budget)
    machine.entry_path = "main.py"
    module = machine.load("main.py", "__main__")
    assert isinstance(module, Module)
    return module.vars, machine
