"""What events have to do with an object: shared by the rules, and no rule itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto

from analysis.finding import Confidence
from analysis.interpreter.values import Alternatives, Instance, Value
from analysis.library.optimizers import OPTIMIZER, owners_in, parameters_of
from analysis.library.ownership import UNSEEN, is_module, modules_in, owner_of
from analysis.library.tensor import Owner, Parameter, Tensor, tensors_in
from analysis.trace import Trace
from analysis.trace.events import Event, Kind


class Concern(Enum):
    """Whether an event's subject is the object in question."""

    YES = auto()
    MAYBE = auto()  # it is one of several
    NO = auto()


def concern(subject: Value, wanted: Value) -> Concern:
    """Whether ``subject`` is ``wanted``; a wrapped model is the model."""
    if isinstance(subject, Alternatives):
        held = [concern(each, wanted) is Concern.YES for each in subject.values]
        return Concern.YES if all(held) else Concern.MAYBE if any(held) else Concern.NO
    return Concern.YES if inner(subject) is inner(wanted) else Concern.NO


def inner(value: Value) -> Value:
    """The model inside its wrappers; anything else is itself."""
    return owner_of(value) if is_module(value) else value


def distinct(values: Iterator[Value]) -> list[Instance]:
    """The objects among ``values``, each once, in order; the alternatives of one are objects too."""
    found: dict[int, Instance] = {}
    for value in values:
        for each in value.values if isinstance(value, Alternatives) else (value,):
            if isinstance(each, Instance):
                found.setdefault(id(inner(each)), inner(each))
    return list(found.values())


def optimizers(trace: Trace) -> list[Instance]:
    """Every optimizer that steps in the trace; an object of the repository's own that wraps one is none."""
    return [each for each in distinct(event.subject for event in trace.events(Kind.STEP)) if each.cls.has_base(OPTIMIZER)]


def forward_numbers(event: Event) -> frozenset[int]:
    """The forward calls in the graphs of what a FORWARD gave, without those in what it was given: its own."""
    return _numbers(event.value) - _numbers(event.detail)


def _numbers(value: Value) -> frozenset[int]:
    if isinstance(value, Tensor):
        return value.forwards
    return frozenset().union(*(tensor.forwards for tensor in tensors_in(value)))


def numbers_in(values: Iterable[Value]) -> frozenset[int]:
    """The forward calls in the graphs of all of them."""
    return frozenset().union(*(_numbers(value) for value in values))


def contains(outer: Value, part: Value) -> bool:
    """Whether ``part`` is a module strictly inside ``outer``."""
    if not (isinstance(outer, Instance) and is_module(outer) and is_module(part)):
        return False
    return inner(outer) is not inner(part) and any(each is inner(part) for each in modules_in(inner(outer)))


def shares(one: Value, other: Value) -> bool:
    """Whether a module is in both of them: what is done to the one is done to a part of the other."""
    if not (isinstance(one, Instance) and isinstance(other, Instance) and is_module(one) and is_module(other)):
        return False
    mine = {id(each) for each in modules_in(owner_of(one))}
    return any(id(each) in mine for each in modules_in(owner_of(other)))


class Inside:
    """``contains`` for one model of which many parts are asked about: its modules are listed once."""

    def __init__(self, outer: Instance) -> None:
        self._outer = inner(outer)
        self._modules = {id(each): each for each in modules_in(self._outer)} if is_module(outer) else {}

    def __contains__(self, part: Value) -> bool:
        """Whether ``part`` is a module strictly inside."""
        return is_module(part) and inner(part) is not self._outer and id(inner(part)) in self._modules


class Holdings:
    """Which parameters an optimizer, a module or a graph holds, remembered while one rule reads one trace.

    Parameters that are frozen count: whether they were frozen at the time of an event is not known afterwards.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Value, frozenset[Owner]]] = {}

    def shared(self, left: Iterable[Owner], right: Iterable[Owner]) -> bool:
        """Whether the two have parameters in common."""
        return not self._atoms(left).isdisjoint(self._atoms(right))

    def covers(self, outer: Iterable[Owner], part: Iterable[Owner]) -> bool:
        """Whether all parameters of ``part`` are among those of ``outer``."""
        return self._atoms(part) <= self._atoms(outer)

    def known(self, owners: Iterable[Owner]) -> bool:
        """Whether each of them was found to have parameters."""
        return all(self._of(owner) for owner in owners)

    def _atoms(self, owners: Iterable[Owner]) -> frozenset[Owner]:
        return frozenset().union(*(self._of(owner) for owner in owners))

    def _of(self, owner: Owner) -> frozenset[Owner]:
        known = self._known.get(id(owner))
        if known is None:
            found = atoms_of(owner)
            known = self._known[id(owner)] = (owner, found)
        return known[1]


def atoms_of(owner: Owner) -> frozenset[Owner]:
    """The layers, single parameters and models of unknown structure inside ``owner``."""
    if not isinstance(owner, Instance):
        return frozenset([owner])
    found: set[Owner] = set()
    for module in modules_in(inner(owner)):
        leaves = [value for value in module.fields.values() if isinstance(value, Parameter)]
        found.update(leaves)
        if leaves or module.cls.find("is_layer") is True or module.cls.find("is_unknown") is True or module.fields.get(UNSEEN) is True:
            found.add(module)
    return frozenset(found)


def owners_in_subject(subject: Value) -> list[Owner]:
    """What owns the parameters of an optimizer, a module, a tensor's graph, or each of several of them."""
    found: list[Owner] = []
    for each in subject if isinstance(subject, (tuple, list)) else subject.values if isinstance(subject, Alternatives) else (subject,):
        if isinstance(each, Instance) and not is_module(each):
            found.extend(parameters_of(each))
        else:
            found.extend(owners_in(each))
    return found


def confidence_in(*objects: Value) -> Confidence:
    """How sure a finding about these objects is: a role that was solved from use is an assumption."""
    assumed = any(isinstance(each, Instance) and each.assumed for each in objects)
    return Confidence.MEDIUM if assumed else Confidence.HIGH


class Nesting:
    """Which modules are parts of which, asked of many pairs: the modules of each are listed once."""

    def __init__(self) -> None:
        self._inside: dict[int, Inside] = {}

    def is_inside(self, part: Value, whole: Value) -> bool:
        """Whether ``part`` is ``whole``, behind any wrappers, or a module in it."""
        if inner(part) is inner(whole):
            return True
        if not isinstance(whole, Instance):
            return False
        found = self._inside.get(id(whole))
        if found is None:
            found = self._inside[id(whole)] = Inside(whole)
        return part in found
