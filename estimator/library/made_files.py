"""Files that another script of the repository makes: what that one saves under a name is what the run finds under it.

Looked for beside the entry, only where the repository does not hold the file, and only among scripts that train nothing.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from analysis.facts import facts_of
from analysis.interpreter.files import OpenFile
from analysis.interpreter.signals import BudgetSpent, GuestRaise, StopRun
from analysis.interpreter.values import MISSING, Call, External, HostFunction, Value
from analysis.source import SourceFile
from estimator.library.arrays import NAMES as OF_ARRAYS
from estimator.library.language import domain_of

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

#: Steps that making a file may take.
_STEPS = 60_000
#: What the text of a script that makes a file has in it.
_SAVES = (b"save(", b"dump(")
#: Where a machine keeps what was saved, by file name, once files were looked for.
_MADE = "files made by other scripts"


def _saving(file: int, value: int) -> Callable[[Call], None]:
    """A function that saves the argument at ``value`` in the file at ``file``: kept, while another script makes files, under the file's name."""

    def run(call: Call) -> None:
        if _MADE in call.machine.state and len(call.args) > max(file, value):
            call.machine.state[_MADE].setdefault(_name(call.args[file]), call.args[value])

    return run


def _loading(dotted: str) -> Callable[[Call], Value]:
    """A function that loads a file: what another script makes of that name, else as before."""

    def run(call: Call) -> Value:
        name = _name(call.args[0]) if call.args else ""
        found = _made(call.machine, name) if name else MISSING
        if found is not MISSING:
            domain = domain_of(call)
            domain.observed.assumed(f"{domain.here(call.span)}: {name} is taken to be what another script of the repository makes")
            return found
        before = OF_ARRAYS.get(dotted)
        if isinstance(before, HostFunction):
            return before.run(call)
        return domain_of(call).call_unknown(call.machine, External(dotted), call.args, call.kwargs, call.span)

    return run


def _name(file: Value) -> str:
    """The last part of a file's name; "" where it is not known."""
    path = file.name if isinstance(file, OpenFile) else file
    return posixpath.basename(path) if isinstance(path, str) else ""


def _made(machine: Machine, name: str) -> Value:
    """What is saved under ``name`` by the scripts beside the entry that name it; ``MISSING`` where none does."""
    made: dict[str, Value] = machine.state.setdefault(_MADE, {})
    if name not in made:
        for path in _makers(machine, name):
            _run(machine, path)
    return made.setdefault(name, MISSING)


def _makers(machine: Machine, name: str) -> Iterator[str]:
    folder = posixpath.dirname(machine.entry_path)
    for path in sorted(machine.snapshot.contents):
        if posixpath.dirname(path) != folder or not path.endswith(".py") or path in machine.loaded:
            continue
        text = machine.snapshot.contents[path]
        if name.encode() in text and any(word in text for word in _SAVES) and not _trains(machine.snapshot.source(path)):
            yield path


def _trains(source: object) -> bool:
    return not isinstance(source, SourceFile) or any(each.trains for each in facts_of(source).definitions)


def _run(machine: Machine, path: str) -> None:
    """Run a script for what it saves; an error in it ends it only."""
    steps, frame, stamp, span = machine.steps, machine.frame, machine.stamp, machine.span
    machine.steps = allowed = min(steps, _STEPS)
    with suppress(GuestRaise, StopRun, BudgetSpent):  # what it had saved by then is there
        machine.load(path, "__main__")
    machine.steps = steps - (allowed - max(machine.steps, 0))
    machine.frame, machine.stamp, machine.span = frame, stamp, span


NAMES: dict[str, Value] = {
    "torch.save": HostFunction("torch.save", _saving(1, 0)),
    "numpy.save": HostFunction("numpy.save", _saving(0, 1)),
    "pickle.dump": HostFunction("pickle.dump", _saving(1, 0)),
    "joblib.dump": HostFunction("joblib.dump", _saving(1, 0)),
    **{dotted: HostFunction(dotted, _loading(dotted)) for dotted in ("torch.load", "numpy.load", "pickle.load", "joblib.load")},
}
