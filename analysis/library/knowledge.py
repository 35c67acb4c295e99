"""How library knowledge is registered: one file per subject, found by being there, with examples that are its tests.

A file of this package that holds a constant ``SUBJECT`` adds its names. A name means a handler (``HostFunction``), a class whose
methods are handlers, or a constant; a prefix answers for the names below it that nobody registered. Subjects of others come from installed
packages through the entry point group ``preflight.library``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

from analysis.installed import NotLoadedError, installed
from analysis.interpreter.values import MISSING, Call, Class, External, HostFunction, Instance, Property, StaticMethod, Value

ENTRY_POINT_GROUP = "preflight.library"

Handler: TypeAlias = Callable[[Call], Value]
#: What a name below a registered prefix stands for: a value, a ``LibraryClass`` to be built, or ``MISSING``.
Below: TypeAlias = "Callable[[str], Value]"


@dataclass(frozen=True, slots=True)
class Example:
    """``code``, and the events that its trace has to hold in this order: ``"step AdamW"`` (kind and class of the subject) or ``"backward"``."""

    code: str
    events: tuple[str, ...]


@dataclass(slots=True)
class LibraryClass:
    """A class of a library before it is built for a run: its bases by name and its methods as handlers."""

    dotted: str
    bases: tuple[str, ...]
    namespace: dict[str, Value] = field(default_factory=dict)

    def method(self, *names: str) -> Callable[[Handler], Handler]:
        """Registers a handler; the receiver is its first argument."""

        def register(handler: Handler) -> Handler:
            for name in names:
                self.namespace[name] = HostFunction(f"{self.dotted}.{name}", handler)
            return handler

        return register

    def static(self, *names: str) -> Callable[[Handler], Handler]:
        """Registers a handler that is called on the class or an object alike, without a receiver."""

        def register(handler: Handler) -> Handler:
            for name in names:
                self.namespace[name] = StaticMethod(HostFunction(f"{self.dotted}.{name}", handler))
            return handler

        return register

    def property(self, name: str) -> Callable[[Handler], Handler]:
        """Registers the getter of a property."""

        def register(handler: Handler) -> Handler:
            self.namespace[name] = Property(HostFunction(f"{self.dotted}.{name}", handler))
            return handler

        return register


@dataclass(slots=True)
class Subject:
    """The names of one subject."""

    examples: tuple[Example, ...] = ()
    values: dict[str, Value] = field(default_factory=dict)
    classes: dict[str, LibraryClass] = field(default_factory=dict)
    prefixes: dict[str, Below] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)

    def function(self, *dotted: str) -> Callable[[Handler], Handler]:
        """Registers a handler under each name."""

        def register(handler: Handler) -> Handler:
            for name in dotted:
                self.values[name] = HostFunction(name, handler)
            return handler

        return register

    def cls(self, dotted: str, *bases: str) -> LibraryClass:
        """Registers a class."""
        self.classes[dotted] = LibraryClass(dotted, bases)
        return self.classes[dotted]

    def subclasses(self, base: str, package: str, names: str) -> None:
        """Registers classes that behave as ``base`` does: ``names`` are separated by spaces."""
        for name in names.split():
            self.cls(f"{package}.{name}", base)

    def below(self, *prefixes: str) -> Callable[[Below], Below]:
        """Registers what the unregistered names below each prefix stand for."""

        def register(below: Below) -> Below:
            for prefix in prefixes:
                self.prefixes[prefix] = below
            return below

        return register

    def object(self, dotted: str, cls: str) -> None:
        """Says that ``dotted`` is an object of the class ``cls``, one in each run."""
        self.objects[dotted] = cls

    def alias(self, package: str, *others: str) -> None:
        """Says that the names below each of ``others`` are those below ``package``."""
        for other in others:
            self.aliases[other] = package


@dataclass(frozen=True, slots=True)
class Names:
    """All subjects merged."""

    values: Mapping[str, Value]
    classes: Mapping[str, LibraryClass]
    prefixes: Mapping[str, Below]
    aliases: Mapping[str, str]
    objects: Mapping[str, str]


def subjects() -> Iterator[tuple[str, Subject]]:
    """The subjects of this package, and of what configures runs, with the paths of their files, then those of installed packages. Raises NotLoadedError."""
    for name in ("analysis.configuration", "analysis.library"):
        for found in pkgutil.iter_modules(importlib.import_module(name).__path__):
            subject = getattr(importlib.import_module(f"{name}.{found.name}"), "SUBJECT", None)
            if isinstance(subject, Subject):
                yield f"{name.replace('.', '/')}/{found.name}.py", subject
    for owner, subject in installed(ENTRY_POINT_GROUP, Subject):
        yield f"the package {owner}", subject


@cache
def names() -> Names:
    """Everything that is known. Raises NotLoadedError if two subjects register one name."""
    merged = Names({}, {}, {}, {}, {})
    for where, subject in subjects():
        for into, more in (
            (merged.values, subject.values),
            (merged.classes, subject.classes),
            (merged.prefixes, subject.prefixes),
            (merged.aliases, subject.aliases),
            (merged.objects, subject.objects),
        ):
            for dotted, value in more.items():
                if dotted in into:
                    raise NotLoadedError(f"{where}: {dotted} is registered by another subject too")
                into[dotted] = value  # type: ignore[index]  # the mapping is a dict while it is being built
    return merged


@cache
def _packages() -> frozenset[str]:
    """Names that stand for packages: something is registered below them."""
    known = names()
    found: set[str] = set(known.prefixes)
    for dotted in (*known.values, *known.classes, *known.aliases, *known.objects):
        owner = dotted.rpartition(".")[0]
        while owner and owner not in found:
            found.add(owner)
            owner = owner.rpartition(".")[0]
    return frozenset(found)


class Library:
    """The library as one run sees it: its classes are the run's own, so that a guest may change them."""

    def __init__(self) -> None:
        self._names = names()
        self._found: dict[str, Value] = {}

    def lookup(self, dotted: str) -> Value:
        """What ``dotted`` stands for, or ``MISSING``."""
        if dotted not in self._found:
            self._found[dotted] = self._find(dotted)
        return self._found[dotted]

    def cls(self, dotted: str) -> Class:
        """A class that a subject registered. Raises KeyError if none did."""
        found = self.lookup(dotted)
        if not isinstance(found, Class):
            raise KeyError(f"{dotted} is not a registered class")
        return found

    def _find(self, dotted: str) -> Value:
        name = self._canonical(dotted)
        if name != dotted:
            return self.lookup(name)
        if name in self._names.values:
            return self._names.values[name]
        if name in self._names.classes:
            return self._build(self._names.classes[name])
        if name in self._names.objects:
            return Instance(self.cls(self._names.objects[name]))
        if name in _packages():
            return MISSING
        owner, _, attribute = name.rpartition(".")
        if owner in self._names.classes:  # a method or constant reached through its class
            return self.cls(owner).find(attribute)
        while owner and not attribute.startswith("__"):
            if owner in self._names.prefixes:
                found = self._names.prefixes[owner](name)
                return self._build(found) if isinstance(found, LibraryClass) else found
            owner = owner.rpartition(".")[0]
        return MISSING

    def _canonical(self, dotted: str) -> str:
        head = dotted
        while head:
            if head in self._names.aliases:
                return self._canonical(self._names.aliases[head] + dotted[len(head) :])
            head = head.rpartition(".")[0]
        return dotted

    def _build(self, declared: LibraryClass) -> Class:
        bases = tuple(base if isinstance(base, Class) else External(name) for name in declared.bases for base in (self.lookup(name),))
        return Class(declared.dotted.rpartition(".")[2], declared.dotted, bases, dict(declared.namespace))
