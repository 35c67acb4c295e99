"""Versions of what is installed: where a program asks, it is answered as the newest release would, or as the repository's own upper bound.

Old branches are kept for old installations. Taken for a flag, such a question could end a program that only refuses to run on one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering
from itertools import zip_longest

from analysis.interpreter.values import Call, External, HostValue, Value
from analysis.library.casting import Castable
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.pins import asks_below
from analysis.snapshot import Snapshot

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from packaging import version

if version.parse(torch.__version__) < version.parse("1.6"):
    raise RuntimeError("too old")
elif version.parse("1.10") > version.parse("1.9"):
    torch.zeros(1).item()
""",
            ("item",),
        ),
    ),
)

#: What asking the installation for a version gives.
_ASKED = "the installed version of "
_VERSION = ".__version__"
_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)")


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Release(HostValue):
    """A release that the program names, by its numbers."""

    numbers: tuple[int, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Release) and not self < other and not other < self

    def __hash__(self) -> int:
        return hash(self.numbers[:1])

    def __lt__(self, other: Release | Installed) -> bool:
        if isinstance(other, Installed):
            return other > self
        pairs = zip_longest(self.numbers, other.numbers, fillvalue=0)
        return next((mine < theirs for mine, theirs in pairs if mine != theirs), False)

    @property
    def major(self) -> int:
        """The first number."""
        return self.numbers[0]

    @property
    def minor(self) -> int:
        """The second number, 0 if there is none."""
        return self.numbers[1] if len(self.numbers) > 1 else 0


@total_ordering
@dataclass(frozen=True, slots=True)
class Installed(HostValue):
    """The release of ``library`` that the program runs with: newer than any that it names, unless the repository's requirements keep it below."""

    library: str
    snapshot: Snapshot

    def __lt__(self, other: Release | Installed) -> bool:
        return isinstance(other, Release) and asks_below(self.snapshot, self.library, other.numbers)


@SUBJECT.function(
    "packaging.version.parse",
    "packaging.version.Version",
    "pkg_resources.parse_version",
    "distutils.version.LooseVersion",
    "distutils.version.StrictVersion",
    "setuptools._distutils.version.LooseVersion",
    "torch.torch_version.TorchVersion",
)
def _parse(call: Call) -> Value:
    """A version that can be compared; of a text that nothing is known about, something unknown."""
    given = call.get(0, "version")
    if isinstance(given, (Release, Installed)):
        return given
    if isinstance(given, str) and (numbers := _NUMBERS.match(given)) is not None:
        return Release(tuple(int(each) for each in numbers[1].split(".")))
    library = _library_of(given)
    if library:
        return Installed(library, call.machine.snapshot)
    return domain_of(call).casting.result(call, "a version", given)


def _library_of(value: Value) -> str:
    """The library whose version ``value`` is, or is a part of (``torch.__version__.split("+")[0]``); "" if it is none."""
    while isinstance(value, Castable):
        if value.why.startswith(_ASKED):
            return value.why.removeprefix(_ASKED)
        value = value.whole or value.callee
    return value.dotted.partition(".")[0] if isinstance(value, External) and _VERSION in value.dotted else ""


@SUBJECT.function("importlib.metadata.version", "importlib_metadata.version")
def _version(call: Call) -> Value:
    name = call.get(0, "distribution_name")
    return domain_of(call).casting.symbol(f"{_ASKED}{name.lower()}" if isinstance(name, str) else "a version", call.span, ())
