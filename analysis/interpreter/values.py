"""What guest code computes with: host values where Python's own are right, and these where they are not.

Containers made by guest code remember where and when they were made. What the source does not tell is a ``Symbol``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from analysis.source import SourceFile, Span

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

#: Any guest value. Host values are guest values, so no narrower type is true.
Value: TypeAlias = Any
#: (loop, iteration) pairs from the outermost loop inwards: when an object was made.
Stamp: TypeAlias = tuple[tuple[int, int], ...]
#: Longer descriptions are cut: one made of others, round after round, would grow without bound.
MAX_WHY = 200


class HostValue:
    """Marks objects that a domain brings: Python's operators and public attributes on them are the guest's."""

    __slots__ = ()


class GuestList(list[Value]):
    """A list made by guest code at ``span`` in iteration ``stamp``."""

    __slots__ = ("span", "stamp")

    span: Span | None
    stamp: Stamp


class FewItems(GuestList):
    """A few items that stand for all of a list whose length the source does not tell: its slices are taken to hold the same."""

    __slots__ = ()


class GuestDict(dict[Value, Value]):
    """A dict made by guest code."""

    __slots__ = ("span", "stamp")

    span: Span | None
    stamp: Stamp


class GuestSet(set[Value]):
    """A set made by guest code."""

    __slots__ = ("span", "stamp")

    span: Span | None
    stamp: Stamp


class Symbol:
    """A value that the source does not tell.

    ``uses`` collects what is done to it ("call", "iterate", ".train", "→torch.optim.AdamW:params"), from which roles are
    solved. ``parts`` keeps derived symbols, so that ``args.lr`` is the same value twice. ``rank_varying`` says that
    ranks may hold different values; ``stamp`` is () for what is fixed before any loop. A condition on a symbol
    is a symbol too: ``test`` then holds the operator ("not", "is", "==", …) and its operands. ``source``: what it comes of, if unknown too.
    """

    __slots__ = ("parts", "rank_varying", "role", "source", "span", "stamp", "test", "uses", "why")
    #: Whether it can be nothing but a number.
    is_number: ClassVar[bool] = False

    def __init__(self, why: str, span: Span | None, stamp: Stamp = (), *, rank_varying: bool = False) -> None:
        self.why = why if len(why) <= MAX_WHY else f"{why[:MAX_WHY]}…"
        self.span = span
        self.stamp = stamp
        self.rank_varying = rank_varying
        self.uses: set[str] = set()
        self.parts: dict[Value, Value] = {}
        self.role = ""
        self.test: tuple[Value, ...] = ()
        self.source: Value = None

    def part(self, key: str, why: str | None = None, stamp: Stamp | None = None) -> Value:
        """The value derived by ``key`` (".lr", "[0]"), the same one every time."""
        if key not in self.parts:
            made = Symbol(why or f"{self.why}{key}", self.span, self.stamp if stamp is None else stamp, rank_varying=self.rank_varying)
            made.source = self
            self.parts[key] = made
        return self.parts[key]

    def __repr__(self) -> str:
        return f"<{self.why}>"


@dataclass(frozen=True, slots=True, eq=False)
class Alternatives:
    """One of two to eight values, decided while the program runs; ``rank_varying``: by a condition that ranks answer differently."""

    values: tuple[Value, ...]
    rank_varying: bool = False


#: A variable shared with an inner function: a dict with the one key "value", so that the heap can undo writes to it.
Cell: TypeAlias = dict[Value, Value]


class Missing:
    """The absence of a variable or attribute, distinct from every guest value."""

    def __repr__(self) -> str:
        return "missing"


MISSING = Missing()


@dataclass(slots=True, eq=False, repr=False)
class Module:
    """An imported file of the repository (or guest source of a library): its globals."""

    name: str
    file: SourceFile
    vars: dict[str, Value]

    def __repr__(self) -> str:
        return f"<module {self.name}>"


@dataclass(frozen=True, slots=True)
class External:
    """A name of a library that the snapshot does not hold, e.g. ``torch.optim.AdamW``."""

    dotted: str


@dataclass(slots=True, eq=False, repr=False)
class Function:
    """A guest function: its syntax, its globals and the cells it closes over."""

    name: str
    qualname: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: Module
    defaults: tuple[Value, ...]
    kw_defaults: Mapping[str, Value]
    cells: Mapping[str, Cell]
    defined_in: Class | None = None
    fields: dict[str, Value] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<function {self.qualname}>"


@dataclass(slots=True, eq=False, repr=False)
class Class:
    """A class, guest or library: a library's class is one whose namespace holds ``HostFunction``s."""

    name: str
    dotted: str  # "torch.optim.AdamW" for a library's class, "models.net.Net" for a guest's
    bases: tuple[Value, ...]
    namespace: dict[str, Value]
    span: Span | None = None
    mro: tuple[Class, ...] = ()
    metadata: dict[str, Value] = field(default_factory=dict)
    _ancestry: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.mro = self.mro or _linearise(self)
        self._ancestry = frozenset(name for owner in self.mro for name in (owner.dotted, *(b.dotted for b in owner.bases if isinstance(b, External))))

    def __repr__(self) -> str:
        return f"<class {self.dotted}>"

    def find(self, name: str) -> Value:
        """The attribute as the method resolution order gives it, or ``MISSING``."""
        for owner in self.mro:
            if name in owner.namespace:
                return owner.namespace[name]
        return MISSING

    def has_base(self, dotted: str) -> bool:
        """Whether ``dotted`` (a library's class) is among its ancestors or itself, followed bases or not."""
        return dotted in self._ancestry


def _linearise(cls: Class) -> tuple[Class, ...]:  # C3 in the easy cases, depth first without doubles where the bases disagree
    order: list[Class] = []
    for base in cls.bases:
        if isinstance(base, Class):
            order = [known for known in order if known not in base.mro] + list(base.mro)
    return (cls, *order)


class Instance:
    """An object of a guest or library class. Its identity is its allocation: ``span``, call path and ``stamp``."""

    __slots__ = ("__weakref__", "assumed", "cls", "fields", "span", "stamp")

    def __init__(self, cls: Class, span: Span | None = None, stamp: Stamp = (), *, assumed: bool = False) -> None:
        self.cls = cls
        self.fields: dict[str, Value] = {}
        self.span = span
        self.stamp = stamp
        #: True if its role was solved from use or annotation: findings about it are at most of medium confidence.
        self.assumed = assumed

    def __repr__(self) -> str:
        return f"<{self.cls.dotted}>"


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A function (guest or host) bound to its object."""

    function: Value
    receiver: Value


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a guest or library class."""

    getter: Value
    setter: Value = None


@dataclass(frozen=True, slots=True)
class StaticMethod:
    """A function that is not bound."""

    function: Value


@dataclass(frozen=True, slots=True)
class ClassMethod:
    """A function that is bound to the class."""

    function: Value


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """``functools.partial``: a callable with some arguments given."""

    function: Value
    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]


@dataclass(frozen=True, slots=True, eq=False)
class Guarded:
    """A function decorated with a context manager (``@torch.no_grad()``): each call runs inside it."""

    function: Value
    manager: Value


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    """``super()``: attributes are looked up after ``owner`` in the receiver's method resolution order."""

    owner: Class
    receiver: Value


@dataclass(slots=True, eq=False)
class Call:
    """One call of a library's function, as its handler sees it. A method's ``args`` begin with the receiver.

    What the source passes with ``*`` or ``**`` and cannot tell stands in ``kwargs`` under "*" and "**".
    """

    machine: Machine
    args: list[Value]
    kwargs: dict[str, Value]
    span: Span

    def get(self, index: int, name: str, default: Value = None) -> Value:
        """The argument at ``index`` or called ``name``."""
        if index < len(self.args):
            return self.args[index]
        return self.kwargs.get(name, default)

    def given(self, index: int, name: str) -> bool:
        """Whether that argument was passed."""
        return index < len(self.args) or name in self.kwargs


@dataclass(frozen=True, slots=True, eq=False)
class HostFunction:
    """A library function whose meaning is the host function ``run``."""

    name: str
    run: Callable[[Call], Value]
